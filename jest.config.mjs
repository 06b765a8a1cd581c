export default {
  reporters: ['default', '<rootDir>/test/support/closing-line.mjs'],
  // Suites wait for timers and processes half of the time: more of them than cores.
  maxWorkers: 4,
  // Modules of finished suites stay in the heap of a worker; past this its collections slow down every suite.
  workerIdleMemoryLimit: '1500MB',
  // Node imports the suites itself; no vm context for each (docs/decisions/0032).
  testEnvironment: '<rootDir>/test/jest/environment.cjs',
  runtime: '<rootDir>/test/jest/runtime.cjs',
  // A hung test is found later; a slow machine fails no test. More than the time of `eventually`.
  testTimeout: 300_000,
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
  rootDir: '.',
  testRegex: '(\\.spec|e2e-spec)\\.ts$',
};
