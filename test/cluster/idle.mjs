/*
 * node test/cluster/idle.mjs [replicas] [seconds]
 *
 * What idle replicas without servers cost PostgreSQL: transactions a second, connections, and which statements; and the
 * resident memory of each. The balancer asks each replica twice a second whether it is ready, one transaction each, which
 * the sum leaves out.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster } from './cluster.mjs';

const [count = 10, seconds = 60] = process.argv.slice(2).map(Number);
/** A replica reads its rows, and closes the connections for that, in its first half minute. */
const SETTLE_MS = 35_000;
const SHOWN = 25;
const READINESS = 'transaction_read_only';

const cluster = new Cluster([]);
await cluster.start(count);
await sleep(SETTLE_MS);
const statements = new Map();
let isCounting = false;
cluster.postgres.process?.stderr.on('data', (bytes) => {
  if (!isCounting) return;
  for (const [, text] of String(bytes).matchAll(/LOG: {2}(?:statement|execute [^:]+): (.*)/g)) {
    const key = text.replaceAll(/\d+/g, '#').slice(0, 110);
    statements.set(key, (statements.get(key) ?? 0) + 1);
  }
});
const transactions = async () => {
  const [row] = await cluster.query(
    `SELECT xact_commit + xact_rollback AS n FROM pg_stat_database WHERE datname = 'cluster'`,
  );
  return Number(row.n);
};
await cluster.query(`ALTER SYSTEM SET log_statement = 'all'`);
await cluster.query('SELECT pg_reload_conf()');
const before = await transactions();
isCounting = true;
await sleep(seconds * 1_000);
isCounting = false;
const after = await transactions();
const [{ connections }] = await cluster.query(
  `SELECT count(*)::int AS connections FROM pg_stat_activity WHERE datname = 'cluster' AND pid <> pg_backend_pid()`,
);
console.log(`${count} idle replicas over ${seconds} s`);
const ready = [...statements].filter(([text]) => text.includes(READINESS));
const polls = ready.reduce((sum, [, times]) => sum + times, 0);
const perSecond = ((after - before - polls) / seconds).toFixed(1);
const memory = cluster.replicas.map(({ service }) => Math.round(service.rss() / 1_048_576));
console.log(`${perSecond} transactions/s, ${connections} connections, ${memory.join(' ')} MB`);
for (const [text, times] of [...statements].sort((a, b) => b[1] - a[1]).slice(0, SHOWN)) {
  console.log(`  ${(times / seconds).toFixed(2)}/s × ${text}`);
}
await cluster.end();
process.exit();
