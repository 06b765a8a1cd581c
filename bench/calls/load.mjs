// node load.mjs '<json>': a closed loop of calls; prints their latency and the processor time per process as one JSON line.
// { url, headers, mode: 'mcp' | 'rest' | 'list', tool, connections, seconds | calls, exactly, perSecond, pids }
// Without `exactly`, unmeasured warm-up calls come first.
import { Connection, headOf, requestOf } from './http-connection.mjs';
import { listTools, openSession } from './mcp-client.mjs';
import { cpuMs } from './processes.mjs';

/**
 * Warm-up of this process: until it is compiled, it is the bottleneck. A number of calls and not a time, so that the
 * client is equally warm for slow and fast targets.
 */
const WARM_UP = { calls: 10_000, seconds: 2 };
const plan = { mode: 'mcp', connections: 1, headers: {}, pids: [], ...JSON.parse(process.argv[2]) };
const marks = (i) => `m${i}-pppppppppppppppp`;
const isError = Buffer.from('"isError":true');

const workers = await Promise.all(Array.from({ length: plan.connections }, openWorker));
const failures = [];
if (!plan.exactly) await run(WARM_UP);
failures.length = 0;
const before = plan.pids.map(cpuMs);
const started = performance.now();
const times = await run(plan);
const seconds = (performance.now() - started) / 1_000;
const cpu = plan.pids.map((pid, i) => cpuMs(pid) - before[i]);
times.sort((a, b) => a - b);
const at = (share) => times[Math.min(times.length - 1, Math.ceil(share * times.length) - 1)];
process.stdout.write(
  JSON.stringify({
    calls: times.length,
    errors: failures.length,
    firstError: failures[0],
    perSecond: times.length / seconds,
    p50: at(0.5),
    p99: at(0.99),
    max: at(1),
    /** Microseconds of processor time per call, for each process. */
    cpu: cpu.map((ms) => (ms * 1_000) / times.length),
  }),
);
for (const worker of workers) await worker.close();
process.exit(0);

async function openWorker() {
  if (plan.mode === 'rest') {
    const connection = new Connection(plan.url);
    const head = headOf(plan.url, { Accept: 'application/json', ...plan.headers });
    const call = (mark, done) =>
      connection.send(
        requestOf(head, `{"name":"${plan.tool}","arguments":{"message":"${mark}"}}`),
        (error, answer) => done(error ?? problemOf(answer, mark)),
      );
    return { call, close: () => Promise.resolve(connection.close()) };
  }
  const session = await openSession(plan.url, plan.headers);
  const { close } = session;
  if (plan.mode === 'list') {
    const call = async (_mark, done) => {
      const { tools } = await listTools(session);
      done(tools >= plan.tools ? undefined : `${tools} tools listed`);
    };
    return { call, close };
  }
  const call = (mark, done) => {
    const body = `{"jsonrpc":"2.0","id":${session.nextId++},"method":"tools/call","params":{"name":"${plan.tool}","arguments":{"message":"${mark}"}}}`;
    session.connection.send(requestOf(session.head, body), (error, answer) =>
      done(error ?? problemOf(answer, mark)),
    );
  };
  return { call, close };
}

function problemOf({ status, body }, mark) {
  if (status === 200 && body.includes(mark) && !body.includes(isError)) return undefined;
  return `${status} ${body.subarray(0, 300).toString()}`;
}

/** Until this many calls or seconds; with `perSecond` the calls are paced. */
function run({ calls = Infinity, seconds: limit = Infinity, perSecond }) {
  const taken = [];
  const begun = performance.now();
  const end = begun + limit * 1_000;
  let sent = 0;
  let open = workers.length;
  return new Promise((resolve) => {
    const stop = () => {
      if (--open === 0) resolve(taken);
    };
    const next = (worker) => {
      if (sent >= calls || performance.now() >= end) return stop();
      const i = sent++;
      const due = perSecond === undefined ? 0 : begun + (i / perSecond) * 1_000 - performance.now();
      if (due > 1) setTimeout(go, due, worker, i);
      else go(worker, i);
    };
    const go = (worker, i) => {
      const mark = marks(i);
      const from = performance.now();
      worker.call(mark, (error) => {
        taken.push(performance.now() - from);
        if (!error) return next(worker);
        failures.push(String(error));
        setImmediate(next, worker);
      });
    };
    workers.forEach(next);
  });
}
