// nest build && node bench/calls/http-client.mjs [requests=20000] [rounds=7]
// Processor time of one request to a server, 64 at a time, by the HTTP client of the service and by undici, with and
// without sending what one turn of the loop asks for together. Rounds are interleaved in a random order.
import { Pool } from 'undici';
import { HttpPool } from '../../dist/libs/http1/src/connection/http-pool.js';
import { startUpstream } from './processes.mjs';

const REQUESTS = Number(process.argv[2] ?? 20_000);
const ROUNDS = Number(process.argv[3] ?? 7);
const AT_ONCE = 64;
const CONNECTIONS = 256;
const BODY =
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo_0","arguments":{"message":"hello"}}}';
const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-session-id': '0b4e4a3c-8d0c-4a39-9c0e-3c1d8b8d5c11',
  'mcp-protocol-version': '2025-11-25',
};

const upstream = await startUpstream(10);
const url = new URL(upstream.url);
const targets = {
  'own client': ownClient(),
  'undici dispatch': undici((send) => send()),
  'undici dispatch, sent at the end of a turn': undici(atEndOfTurn()),
};
const found = new Map(Object.keys(targets).map((name) => [name, []]));
for (let round = -1; round < ROUNDS; round++) {
  for (const [name, target] of Object.entries(targets).toSorted(() => Math.random() - 0.5)) {
    const measured = await measure(target.ask);
    if (round >= 0) found.get(name).push(measured);
  }
}
console.log('| client | CPU µs a request | requests/s |\n|---|---|---|');
for (const [name, rounds] of found) {
  const cpu = median(rounds.map((each) => each.cpu));
  const rate = median(rounds.map((each) => each.rate));
  console.log(`| ${name} | ${cpu.toFixed(1)} | ${Math.round(rate)} |`);
}
for (const { close } of Object.values(targets)) close();
await upstream.stop();

async function measure(ask) {
  let left = REQUESTS;
  const before = process.cpuUsage();
  const startedAt = performance.now();
  await new Promise((resolve, reject) => {
    let running = AT_ONCE;
    const next = (error, bytes) => {
      if (error || bytes === 0) return reject(error ?? new Error('an empty answer'));
      if (left-- > 0) ask(next);
      else if (--running === 0) resolve();
    };
    for (let i = 0; i < AT_ONCE; i++) ask(next);
  });
  const seconds = (performance.now() - startedAt) / 1_000;
  const { user, system } = process.cpuUsage(before);
  const requests = REQUESTS + AT_ONCE;
  return { cpu: (user + system) / requests, rate: requests / seconds };
}

function ownClient() {
  const pool = new HttpPool(url, 5_000);
  const lines = Object.entries(HEADERS).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `POST ${url.pathname} HTTP/1.1\r\nhost: ${pool.host}\r\n${lines.join('')}content-length: ${BODY.length}\r\n\r\n`;
  return {
    ask: (done) => {
      let bytes = 0;
      pool.dispatch({
        isOver: false,
        head,
        body: BODY,
        onSent: () => undefined,
        onHead: () => undefined,
        onData: (data) => (bytes += data.length),
        onEnd: () => done(undefined, bytes),
        onError: done,
      });
    },
    close: () => pool.destroy(),
  };
}

function undici(send) {
  const pool = new Pool(url.origin, { connections: CONNECTIONS, pipelining: 1 });
  const options = { method: 'POST', path: url.pathname, headers: HEADERS, body: BODY };
  return {
    ask: (done) => {
      let bytes = 0;
      const handler = {
        onRequestStart: () => undefined,
        onResponseStart: () => undefined,
        onResponseData: (_, data) => (bytes += data.length),
        onResponseEnd: () => done(undefined, bytes),
        onResponseError: (_, error) => done(error),
      };
      send(() => pool.dispatch(options, handler));
    },
    close: () => void pool.destroy(),
  };
}

/** As the service's HTTP client does. */
function atEndOfTurn() {
  let waiting = [];
  return (send) => {
    if (waiting.push(send) > 1) return;
    setImmediate(() => {
      const all = waiting;
      waiting = [];
      for (const each of all) each();
    });
  };
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
}
