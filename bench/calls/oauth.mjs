// npm run bench:oauth [-- batches=3 rounds=7 calls=20000 starts=5 --write]: what the authorization server costs, on and off.
//   off      without it, a static token; `again` is the same in another process, for the noise of two processes
//   on       with it, the same static token
//   oauth    the same process, an access token that it gave to a client
// Also: time to start and RSS at rest of fresh processes, and RSS after the first login. --write replaces bench/OAUTH.md.
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { cpus } from 'node:os';
import { ConsentBrowser } from '../../test/real/consent-browser.mjs';
import { interleaved, measure, median } from './measure.mjs';
import { AUTH, pause, rssMb, settled, startProduct, startUpstream, TOKEN } from './processes.mjs';

const GOALS = { mb: 30, us: 1 };
const REST_MS = 10_000;
const isWriting = process.argv.includes('--write');
const [batches = 3, rounds = 7, calls = 20_000, starts = 5] = process.argv
  .slice(2)
  .filter((argument) => argument !== '--write')
  .map(Number);
const PLAN = { connections: 64, calls };

const settings = {
  off: { MCP_AGGREGATOR_OAUTH: 'off' },
  on: (origin) => ({ MCP_AGGREGATOR_OAUTH: 'on', MCP_AGGREGATOR_PUBLIC_URL: origin }),
};
const of = (items, key) => items.map((each) => each[key]);
const range = (values, digits) => {
  const shown = [median(values), Math.min(...values), Math.max(...values)];
  const [middle, least, most] = shown.map((value) => value.toFixed(digits));
  return `${middle} (${least} to ${most})`;
};

const upstream = await startUpstream(10);

const rest = { off: [], on: [] };
for (let n = 0; n < starts; n++) {
  for (const kind of ['off', 'on']) rest[kind].push(await rested(kind));
}
const costs = [];
for (let n = 0; n < batches; n++) {
  costs.push(await measuredBatch());
  process.stderr.write(`${n + 1} of ${batches}: ${JSON.stringify(costs.at(-1))}\n`);
}
await upstream.stop();

const moreMb = median(of(rest.on, 'loggedIn')) - median(of(rest.off, 'mb'));
const table = [
  '| | off | on |',
  '| --- | --- | --- |',
  `| ready after, ms | ${range(of(rest.off, 'readyMs'), 0)} | ${range(of(rest.on, 'readyMs'), 0)} |`,
  `| RSS at rest, MB | ${range(of(rest.off, 'mb'), 0)} | ${range(of(rest.on, 'mb'), 0)} |`,
  `| RSS after the first login, MB | | ${range(of(rest.on, 'loggedIn'), 0)} |`,
  '',
  '| a call, µs of CPU more | |',
  '| --- | --- |',
  `| off, in another process (noise) | ${range(of(costs, 'again'), 2)} |`,
  `| on, with a static token, beside off | ${range(of(costs, 'on'), 2)} |`,
  `| with an access token, beside a static one in the same process | ${range(of(costs, 'oauth'), 2)} |`,
].join('\n');
console.log(table);
console.log(`a call: ${median(of(costs, 'us')).toFixed(1)} µs; ${moreMb.toFixed(0)} MB more`);
if (isWriting) writeFileSync(new URL('../OAUTH.md', import.meta.url), report());
const isCheap = moreMb <= GOALS.mb && median(of(costs, 'oauth')) <= GOALS.us;
process.exitCode = isCheap ? 0 : 1;

async function started(kind) {
  const product = await startProduct({ up0: { url: upstream.url } }, settings[kind]);
  await settled(product, 10);
  return product;
}

async function rested(kind) {
  const product = await started(kind);
  try {
    const found = { readyMs: product.readyMs, mb: await restingMb(product.pid) };
    if (kind === 'off') return found;
    const token = await accessToken(product.origin);
    await measure(target(product, token), { connections: 1, calls: 1 });
    return { ...found, loggedIn: await restingMb(product.pid) };
  } finally {
    await product.stop();
  }
}

/** The least, once it has not fallen for a while: what a start leaves is given back with delay. */
async function restingMb(pid) {
  let least = Infinity;
  for (let fellAt = performance.now(); performance.now() - fellAt < REST_MS;) {
    const mb = rssMb(pid);
    if (mb < least - 1) {
      least = mb;
      fellAt = performance.now();
    }
    await pause(500);
  }
  return least;
}

/** Microseconds more, round by round, so that what disturbs the machine meets both. */
async function measuredBatch() {
  const products = [await started('off'), await started('off'), await started('on')];
  const [off, again, on] = products;
  try {
    const oauth = target(on, await accessToken(on.origin));
    const targets = { off: target(off), again: target(again), on: target(on), oauth };
    for (const each of Object.values(targets)) await measure(each, PLAN);
    const found = await interleaved(targets, PLAN, rounds);
    const failed = Object.values(found)
      .flat()
      .find((run) => run.errors > 0);
    if (failed) throw new Error(`a call failed: ${failed.firstError}`);
    const more = (name, than) =>
      median(found[name].map(({ cpu }, round) => cpu - found[than][round].cpu));
    const us = median(of(found.off, 'cpu'));
    return { again: more('again', 'off'), on: more('on', 'off'), oauth: more('oauth', 'on'), us };
  } finally {
    for (const product of products) await product.stop();
  }
}

function target({ pid, url }, token) {
  const headers = token === undefined ? AUTH : { ...AUTH, Authorization: `Bearer ${token}` };
  return { pid, url, headers, tool: 'up0__echo_0' };
}

/** As a client gets it that registers and that its person allows. */
async function accessToken(origin) {
  const post = async (path, body) => {
    const answer = await fetch(origin + path, { method: 'POST', ...body });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return answer.json();
  };
  let code;
  const client = createServer((request, response) => {
    code = new URL(request.url, 'http://127.0.0.1').searchParams.get('code');
    response.end();
  });
  client.listen(0, '127.0.0.1');
  await once(client, 'listening');
  const redirect_uri = `http://127.0.0.1:${client.address().port}/callback`;
  try {
    const { client_id } = await post('/register', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_name: 'bench', redirect_uris: [redirect_uri] }),
    });
    const code_verifier = randomBytes(32).toString('base64url');
    const query = new URLSearchParams({
      response_type: 'code',
      client_id,
      redirect_uri,
      resource: `${origin}/mcp`,
      scope: 'read call',
      code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
    await new ConsentBrowser(origin).allow(`${origin}/authorize?${query}`, TOKEN);
    const grant_type = 'authorization_code';
    const form = { grant_type, code, client_id, redirect_uri, code_verifier };
    const { access_token } = await post('/token', { body: new URLSearchParams(form) });
    return access_token;
  } finally {
    client.closeAllConnections();
    client.close();
  }
}

function report() {
  return `# What the authorization server costs

Written by \`npm run bench:oauth -- ${batches} ${rounds} ${calls} ${starts} --write\` on Node ${process.version}, ${cpus().length} × ${cpus()[0].model}. Medians, with the least and the most: of ${starts} fresh processes each, when their memory has not fallen for ten seconds; and of ${batches} batches of new processes, each of ${rounds} rounds of ${calls} calls of 64 connections to each target, in random order. A call without it costs ${median(of(costs, 'us')).toFixed(1)} µs of CPU. Goals: ${GOALS.mb} MB more after a login (${moreMb.toFixed(0)}), ${GOALS.us} µs more for a call with an access token.

${table}
`;
}
