'use strict';
// Jest's runner of one spec, used by spec-process.mjs: runs it once unchanged, to learn which of its tests reach which
// mutant, then once for each mutant with these tests first.
const { readFileSync, writeSync } = require('node:fs');
const nodeModule = require('node:module');
const { pathToFileURL } = require('node:url');
const { default: circus } = require('jest-circus/runner');

const { folder, tasks, wanted } = JSON.parse(readFileSync(process.env.MUTATION_WORK, 'utf8'));
/** What Stryker's switches read. */
const switches = (globalThis.__stryker__ = {});
const REPORT = 3;
/** Node keeps every copy of a module that it imports, some 10 MB for each run of a spec. */
const RUNS_PER_PROCESS = 80;
/** As Stryker: a loop that a mutant runs so many times more often does not end. */
const HITS = 100;
const PATIENCE = { times: 5, ms: 2_000 };
const HOOK_MS = 10_000;
/** For the tests of a mutant; the fastest are run first. */
const BUDGET_MS = 2_000;

module.exports = async function runSpec(globalConfig, config, environment, runtime, file, send) {
  const hooks = pathToFileURL(`${__dirname}/mutant-hooks.mjs`);
  nodeModule.register(hooks, { data: { folder } });
  const run = async (handleTestEvent) => {
    const fresh = new environment.constructor({ projectConfig: config });
    await fresh.setup();
    fresh.handleTestEvent = handleTestEvent;
    try {
      return await circus(globalConfig, config, fresh, runtime, file, send);
    } finally {
      await fresh.teardown();
    }
  };
  if (!tasks) return cover(run);
  let result;
  for (const task of tasks.slice(0, RUNS_PER_PROCESS)) {
    tell({ started: task.id });
    result = await mutate(run, task);
  }
  return result;
};

async function cover(run) {
  const startedAt = performance.now();
  switches.mutantCoverage = { static: {}, perTest: {} };
  const times = {};
  const result = await run((event) => {
    if (event.name === 'test_start') switches.currentTestId = nameOf(event.test);
    if (event.name !== 'test_done') return;
    switches.currentTestId = undefined;
    times[nameOf(event.test)] = event.test.duration ?? 0;
  });
  if (result.testExecError || result.numFailingTests > 0) {
    throw new Error(`Fails without any change: ${result.failureMessage}`);
  }
  const found = reached(switches.mutantCoverage, times).filter(({ id }) => wanted.includes(id));
  tell({ reached: found, ms: performance.now() - startedAt });
  return result;
}

/** What is reached outside of a test, by a hook or at import, concerns all tests. */
function reached({ static: outside, perTest }, times) {
  const found = new Map();
  const add = (id, tests, hits) => {
    const before = found.get(id) ?? { id, hits: 0, tests: {} };
    found.set(id, { id, hits: before.hits + hits, tests: { ...before.tests, ...tests } });
  };
  for (const [id, hits] of Object.entries(outside)) add(id, times, hits);
  for (const [test, ids] of Object.entries(perTest)) {
    for (const [id, hits] of Object.entries(ids)) add(id, { [test]: times[test] ?? 0 }, hits);
  }
  return [...found.values()].map((task) => ({ ...task, tests: chosenOf(task.tests, times) }));
}

async function mutate(run, { id, tests, hits }) {
  Object.assign(switches, {
    activeMutant: id,
    hitCount: 0,
    hitLimit: hits * HITS,
    currentTestId: undefined,
  });
  switches.mutantCoverage = { static: {}, perTest: {} };
  let failed = false;
  let result;
  try {
    result = await run(({ name, test, hook }) => {
      if (name === 'hook_start') hook.timeout = HOOK_MS;
      if (name === 'test_start') {
        const time = tests[nameOf(test)];
        // The first failure is enough.
        if (failed || time === undefined) test.mode = 'skip';
        else test.timeout = PATIENCE.ms + time * PATIENCE.times;
      }
      if (name === 'test_done' && test.errors.length > 0) failed = true;
    });
    failed ||= Boolean(result.testExecError) || result.numFailingTests > 0;
  } catch {
    failed = true; // it cannot even be imported
  }
  tell({ id, status: failed ? 'killed' : 'survived' });
  return result;
}

/** Those that reach the mutant, then others: what one test puts into a cache, a later one may use. */
function chosenOf(reaching, times) {
  const byTime = ([, a], [, b]) => a - b;
  const others = Object.entries(times).filter(([name]) => !(name in reaching));
  let sum = 0;
  const inOrder = [...Object.entries(reaching).sort(byTime), ...others.sort(byTime)];
  return Object.fromEntries(inOrder.filter(([, ms], i) => (sum += ms) <= BUDGET_MS || i === 0));
}

function nameOf(test) {
  const names = [];
  for (let block = test; block; block = block.parent) names.unshift(block.name);
  return names.join(' › ');
}

function tell(line) {
  writeSync(REPORT, `${JSON.stringify(line)}\n`);
}
