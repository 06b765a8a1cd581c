import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import base from '../../jest.config.mjs';

const path = (file) => fileURLToPath(new URL(file, import.meta.url));
/** A run that reports nothing for so long has a loop without an end. */
const SILENCE_MS = 30_000;
const DRAIN_MS = 100;

/**
 * Runs a spec with each of the wanted mutants that its tests reach, in as many processes as that needs. Returns the
 * status of each of these mutants by its id, and how many tests the spec has.
 */
export async function runSpec(folder, spec, wanted, onProgress) {
  const found = { tests: 0, statuses: new Map() };
  let left;
  do {
    const { lines, errors } = await runProcess(folder, spec, { wanted, tasks: left }, onProgress);
    for (const { reached, tests } of lines.filter((line) => line.reached)) {
      left = reached;
      found.tests = tests;
    }
    if (!left) throw new Error(`${spec} cannot be run: ${errors}`);
    for (const { id, status } of lines.filter((line) => line.status))
      found.statuses.set(id, status);
    const { started } = lines.findLast((line) => line.started) ?? {};
    // It ended the process, or was stopped.
    if (started && !found.statuses.has(started)) found.statuses.set(started, 'killed');
    left = left.filter(({ id }) => !found.statuses.has(id));
  } while (left.length > 0);
  return found;
}

function runProcess(folder, spec, work, onProgress) {
  const { globalSetup: _setup, globalTeardown: _teardown, reporters: _reporters, ...config } = base;
  const configFile = join(folder, 'jest.config.json');
  const workFile = join(folder, 'work.json');
  const testRunner = path('spec-runner.cjs');
  writeFileSync(configFile, JSON.stringify({ ...config, rootDir: path('../..'), testRunner }));
  writeFileSync(workFile, JSON.stringify({ folder, ...work }));
  const args = [path('../../node_modules/jest/bin/jest.js'), '--config', configFile];
  const child = spawn(process.execPath, [...args, '-i', '--forceExit', '--runTestsByPath', spec], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    // Its own group, so that what a mutant left running ends with it.
    detached: true,
    env: { ...process.env, MUTATION_WORK: workFile },
  });
  return new Promise((resolve) => {
    const lines = [];
    let errors = '';
    const stop = () => {
      try {
        process.kill(-Number(child.pid), 'SIGKILL');
      } catch (error) {
        if (error.code !== 'ESRCH') throw error; // all have ended
      }
    };
    process.once('exit', stop);
    const silence = setTimeout(stop, SILENCE_MS);
    child.stderr.on('data', (data) => (errors = (errors + data).slice(-2000)));
    createInterface({ input: child.stdio[3] }).on('line', (line) => {
      silence.refresh();
      lines.push(JSON.parse(line));
      onProgress(lines);
    });
    child.on('exit', () => {
      clearTimeout(silence);
      stop();
      process.off('exit', stop);
      // The pipes may stay open in processes that left the group; what was written to them arrives at once.
      setTimeout(() => {
        child.stdio.forEach((stream) => stream?.destroy());
        resolve({ lines, errors });
      }, DRAIN_MS);
    });
  });
}
