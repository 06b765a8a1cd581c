import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import base from '../../jest.config.mjs';

const path = (file) => fileURLToPath(new URL(file, import.meta.url));
/** A run that reports nothing for so long has a loop without an end. */
const SILENCE_MS = 90_000;
const DRAIN_MS = 100;

/** Which of these mutants the tests of a spec reach, as tasks, and how long its tests take. */
export async function coverageOf(folder, spec, wanted) {
  const { lines, errors } = await runProcess(folder, spec, { wanted });
  const coverage = lines.find(({ reached }) => reached);
  if (!coverage) throw new Error(`${spec} fails without any change: ${errors}`);
  return { spec, ...coverage };
}

/** The status of each mutant by its id, in as many processes as that needs. */
export async function runTasks(folder, spec, tasks, onProgress) {
  const statuses = new Map();
  let left = tasks;
  while (left.length > 0) {
    const { lines, errors } = await runProcess(folder, spec, { tasks: left }, onProgress);
    for (const { id, status } of lines.filter((line) => line.status)) statuses.set(id, status);
    const { started } = lines.findLast((line) => line.started) ?? {};
    if (!started) throw new Error(`${spec} cannot be run: ${errors}`);
    // It ended the process, or was stopped.
    if (!statuses.has(started)) statuses.set(started, 'killed');
    left = left.filter(({ id }) => !statuses.has(id));
  }
  return statuses;
}

function runProcess(folder, spec, work, onProgress = () => undefined) {
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
      if (child.pid === undefined) return; // it could not be started
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
