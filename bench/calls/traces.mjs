// npm run bench:traces [-- rounds]: what tracing costs a call, on one service that differs only in its settings:
//   off      no endpoint
//   one      1 % of the calls
//   all      every call, from a client that sends no context
//   away     every call, and no collector answers
import { createServer } from 'node:http';
import { interleaved, measure, median } from './measure.mjs';
import { rssMb, settled, startProduct, startUpstream } from './processes.mjs';

const [rounds = '11'] = process.argv.slice(2);
const CALLS = 10_000;
const GOALS = { one: 0.5, all: 5 };

let spans = 0;
const collector = createServer((request, response) => {
  let bytes = 0;
  request.on('data', (piece) => (bytes += piece.length));
  request.on('end', () => {
    spans += bytes > 0 ? 1 : 0;
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
});
await new Promise((resolve) => collector.listen(0, '127.0.0.1', resolve));
const endpoint = `http://127.0.0.1:${collector.address().port}`;

const upstream = await startUpstream(10);
const servers = { up0: { url: upstream.url } };
const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint };
const settings = {
  off: {},
  again: {},
  one: { ...traced, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.01' },
  all: traced,
  away: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' },
};
const targets = {};
for (const [name, env] of Object.entries(settings)) {
  const target = await startProduct(servers, env);
  await settled(target, 10);
  targets[name] = { ...target, tool: 'up0__echo_0' };
  await measure(targets[name], { connections: 64, calls: 20_000 });
}
const before = rssMb(targets.away.pid);
const found = await interleaved(targets, { connections: 64, calls: CALLS }, Number(rounds));
const after = rssMb(targets.away.pid);
const failed = Object.values(found)
  .flat()
  .find((run) => run.errors > 0);
for (const target of [...Object.values(targets), upstream]) await target.stop();
collector.close();
if (failed) throw new Error(`a call failed: ${failed.firstError}`);

/** Microseconds of CPU more than without tracing, round by round. */
const more = (name) => median(found[name].map(({ cpu }, round) => cpu - found.off[round].cpu));
/** Of the run of each that the machine disturbed least. */
const least = (name) => Math.min(...found[name].map(({ cpu }) => cpu));
const moreAtLeast = (name) => (least(name) - least('off')).toFixed(2);
const cost = median(found.off.map(({ cpu }) => cpu));
console.log(`a call without tracing: ${cost.toFixed(1)} µs of CPU; medians of ${rounds} rounds`);
console.log(
  `the same settings again: ${more('again').toFixed(2)} µs more, least ${moreAtLeast('again')}`,
);
for (const [name, goal] of Object.entries(GOALS)) {
  console.log(
    `${name}: ${more(name).toFixed(2)} µs more, least ${moreAtLeast(name)} (goal ≤ ${goal})`,
  );
}
console.log(
  `away: ${more('away').toFixed(2)} µs more, RSS ${before.toFixed(0)} → ${after.toFixed(0)} MB`,
);
console.log(`requests to the collector: ${spans}`);
