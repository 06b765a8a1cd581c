// The specs without I/O of the libraries named in MUTATED, for `npm run mutation`. In Jest's own vm contexts: Stryker runs
// each spec thousands of times in one process, and Node keeps every copy of a module that it imports.
import base from '../jest.config.mjs';
import { typescript } from '../test/jest/typescript-hooks.mjs';

const {
  globalSetup: _setup,
  globalTeardown: _teardown,
  reporters: _reporters,
  runtime: _runtime,
  ...config
} = base;
const libs = (process.env.MUTATED ?? '').match(/libs\/[\w-]+/g) ?? [];

export default {
  ...config,
  rootDir: '..',
  testEnvironment: 'node',
  roots: libs.map((lib) => `<rootDir>/${lib}`),
  testRegex: '\\.spec\\.ts$',
  testPathIgnorePatterns: ['/node_modules/', '\\.(int|fuzz)\\.spec\\.ts$'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', typescript] },
  moduleNameMapper: {
    '^@app/(.*)$': '<rootDir>/libs/$1/src/index.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
};
