/*
 * npm run faults [-- full|ci]
 *
 * Replays the attacks of docs/security.md against the built service and prints a table. Each row is a script of this
 * folder, or specs of the test suite, that runs by itself; one that takes too long has failed. A row that failed is
 * run once more, since most goals are times and other programs may have used the machine; the table says so. `full`
 * runs the sizes of the targets instead of those that fit into ten minutes. `ci` runs smaller ones, and only tells
 * which goals in milliseconds were missed: a CI machine may be slow or busy. Names of rows (`npm run faults -- T6 T9`)
 * run only those.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const SIZES = ['full', 'ci'];
const words = process.argv.slice(2);
const wanted = words.filter((word) => !SIZES.includes(word));
const isCi = words.includes('ci');
const sized = (usual, ci, full) => (isCi ? ci : words.includes('full') ? full : usual);
const script = (name, ...args) => [
  process.execPath,
  [`test/faults/${name}.mjs`, ...args.map(String)],
];
const specs = (...paths) => [
  process.execPath,
  ['node_modules/jest/bin/jest.js', '--silent', ...paths],
];

const rows = [
  { id: 'T4', what: script('idle-streams') },
  { id: 'T6', what: script('memory') },
  { id: 'T7', what: script('generated-inputs', sized(60_000, 20_000, 200_000)) },
  { id: 'T8', what: script('isolation', sized(0, 0, 1_000_000)) },
  { id: 'T9', isTime: true, what: script('recovery') },
  { id: 'T13', what: script('kills', sized(24, 12, 200)) },
  { id: 'T15', isTime: true, what: script('neighbour') },
  { id: 'T16', isTime: true, what: script('loop') },
  {
    id: 'T17',
    title: 'canaries in logs, errors, metrics, audit, answers',
    what: specs('test/contract/secrets.e2e', 'test/contract/echoed-secrets.e2e'),
  },
  {
    id: 'T19',
    title: 'egress targets judged as the rule says',
    what: specs('libs/platform/src/egress'),
  },
  {
    id: 'T22',
    title: 'licences and advisories',
    what: [process.execPath, ['scripts/licences.mjs']],
  },
];
const LONGEST_MS = sized(180_000, 300_000, 3_600_000);

let failed = 0;
const chosen = rows.filter(({ id }) => wanted.length === 0 || wanted.includes(id));
for (const row of chosen) {
  let result = await run(row);
  if (!result.isOk) {
    console.log(`${result.line} | again:`);
    result = await run(row);
  }
  console.log(result.line);
  if (!result.isOk) failed += 1;
}
console.log(`${chosen.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

async function run({ id, title, isTime = false, what: [program, args] }) {
  const startedAt = performance.now();
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    env: { ...process.env, FAULTS_LONGEST_MS: String(LONGEST_MS - 5_000) },
  });
  const lines = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => lines.push(line));
  }
  const timer = setTimeout(() => process.kill(-Number(child.pid), 'SIGKILL'), LONGEST_MS);
  const [code, signal] = await new Promise((resolve) =>
    child.once('close', (...how) => resolve(how)),
  );
  clearTimeout(timer);
  // A script that printed its row has measured to the end.
  const isMeasured = lines.some((line) => line.startsWith(`${id} |`));
  const isOk = code === 0 || (isCi && isTime && isMeasured);
  if (!isOk) console.error(lines.slice(-30).join('\n'));
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  return { isOk, line: `${resultIn(lines, { id, title, code, signal, isOk })} | ${seconds} s` };
}

/** Scripts print their own row; of specs the summary line is shown. */
function resultIn(lines, { id, title, code, signal, isOk }) {
  const own = lines.findLast((line) => line.startsWith(`${id} |`));
  if (own !== undefined) return own;
  const closing = lines.findLast((line) => /\d+ passed|kills|licences|packages/i.test(line)) ?? '';
  const how = signal ? `ended after ${LONGEST_MS / 1_000} s` : `exit code ${code}`;
  return [id, title ?? closing.trim(), isOk ? closing.trim() : how, isOk ? 'ok' : 'FAILED'].join(
    ' | ',
  );
}
