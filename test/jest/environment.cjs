'use strict';
const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

/**
 * Where property tests start: the same inputs in every run, so that a failure belongs to the change that is tested.
 * Other inputs are found by `PROPERTY_SEED=<number> npx jest <spec>`.
 */
const PROPERTY_SEED = Number(process.env.PROPERTY_SEED ?? 20_261_120);

/** What a suite leaves on the global object, where it would keep that suite's classes and tests in memory. */
const LEFT_BEHIND = new Set([
  'typeormMetadataArgsStorage',
  'classValidatorMetadataStorage',
  'JEST_STATE_SYMBOL',
  'EVENT_HANDLERS',
]);

/** The global object of the process instead of a vm context; what suites change in it is undone after each. */
module.exports = class NativeEnvironment {
  global = globalThis;
  fakeTimers = null;

  constructor({ projectConfig }) {
    this.before = {
      console,
      exit: Object.getOwnPropertyDescriptor(process, 'exit'),
      env: { ...process.env },
    };
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup() {
    this.Logger = (await import('@nestjs/common')).Logger;
    (await import('fast-check')).default.configureGlobal({ seed: PROPERTY_SEED });
    this.before.logger = Object.fromEntries(Object.entries(this.Logger));
  }

  async teardown() {
    this.fakeTimersModern.dispose();
    Object.assign(this.Logger, this.before.logger);
    globalThis.console = this.before.console;
    Object.defineProperty(process, 'exit', this.before.exit);
    restore(process.env, this.before.env);
    for (const key of Reflect.ownKeys(globalThis)) {
      if (LEFT_BEHIND.has(key.description ?? key)) delete globalThis[key];
    }
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** Jest demands it; `runtime.cjs` imports no module into a context. */
  getVmContext() {
    return null;
  }
};

function restore(env, before) {
  for (const name of Object.keys(env)) if (!(name in before)) delete env[name];
  Object.assign(env, before);
}
