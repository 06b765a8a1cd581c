import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/* For the checks of the package and of the image: steps that are named, programs that are run, states that are waited for. */

const WAIT_MS = 240_000;

export class Failed extends Error {}

/** Prints what was done and how long it took. */
export async function step(what, work) {
  const startedAt = performance.now();
  const result = await work();
  console.log(`${what}: ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
  return result;
}

export function expect(isTrue, what) {
  if (!isTrue) throw new Failed(what);
}

/** The output of a program that has to end with `code`. */
export async function run(command, args, { code = 0, ...options } = {}) {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const outputs = ['', ''];
  [child.stdout, child.stderr].forEach((stream, index) =>
    stream.setEncoding('utf8').on('data', (text) => (outputs[index] += text)),
  );
  const [status] = await once(child, 'close');
  if (status !== code) {
    throw new Failed(
      `${command} ${args.join(' ')} ended with ${status} instead of ${code}:\n${outputs.join('')}`,
    );
  }
  return outputs[0];
}

/** A program that keeps running; `stop` ends it and everything that it has started, and gives its exit code. */
export function launch(command, args, options = {}) {
  const child = spawn(command, args, {
    ...options,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => (output += text));
  }
  const ended = once(child, 'close').then(([code]) => code);
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  return {
    pid: child.pid,
    output: () => output,
    isRunning,
    ended,
    stop: async (signal = 'SIGTERM') => {
      if (child.pid !== undefined && isRunning()) process.kill(-child.pid, signal);
      return ended;
    },
  };
}

/** Asks until the answer is not undefined. */
export async function eventually(what, ask, isPossible = () => true) {
  const deadline = performance.now() + WAIT_MS;
  for (;;) {
    const answer = await Promise.resolve(ask()).catch(() => undefined);
    if (answer !== undefined && answer !== false) return answer;
    if (!isPossible()) throw new Failed(`${what}: the program has ended`);
    if (performance.now() > deadline) throw new Failed(`${what}: not within ${WAIT_MS / 1_000} s`);
    await sleep(100);
  }
}
