// `npm run mutation -- libs/routing libs/access`: how many small changes of these libraries their specs notice. Not in
// CI and not a dependency: it takes minutes a library, and Stryker brings 200 packages that nothing else needs.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const VERSION = '9.6.1'; // supports Node 20
/** Wiring and shapes, and what only tests with I/O reach. */
const LEFT_OUT = [
  'index',
  '*.spec',
  'fake-*',
  '*.module',
  '*.controller',
  '*.dto',
  '*.entity',
  '*.store',
  '*.errors',
  '*.metrics',
  '*.job',
];

const libs = process.argv.slice(2);
if (libs.length === 0) {
  console.error('Name libraries, such as: npm run mutation -- libs/routing');
  process.exit(2);
}
// Outside of the project, whose checks would read the copies of its files.
const folder = mkdtempSync(join(tmpdir(), 'mutation-'));
const configFile = join(folder, 'stryker.config.json');
const paths = libs.map((lib) => (lib.endsWith('.ts') ? lib : `${lib}/src/**/*.ts`));
const config = {
  mutate: [...paths, ...LEFT_OUT.map((name) => `!libs/**/${name}.ts`)],
  testRunner: 'jest',
  // Without one of that name Stryker does not need TypeScript, which Jest does not use either.
  tsconfigFile: 'none.json',
  plugins: ['@stryker-mutator/jest-runner'],
  jest: {
    projectType: 'custom',
    configFile: 'scripts/mutation.jest.mjs',
    enableFindRelatedTests: false,
  },
  testRunnerNodeArgs: ['--experimental-vm-modules'],
  coverageAnalysis: 'perTest',
  // A change of what runs once at import would need every spec.
  ignoreStatic: true,
  ignorePatterns: [
    'dist',
    'data',
    'bench',
    'conformance',
    'examples',
    'docs',
    'libs/vectors/model',
  ],
  concurrency: 2,
  timeoutMS: 30_000,
  dryRunTimeoutMinutes: 30,
  tempDirName: join(folder, 'sandboxes'),
  reporters: ['clear-text', 'html'],
  clearTextReporter: { allowColor: false, logTests: false },
  htmlReporter: { fileName: join(folder, 'report.html') },
  thresholds: { high: 85, low: 70, break: null },
  cleanTempDir: 'always',
};
writeFileSync(configFile, JSON.stringify(config));
const packages = ['core', 'jest-runner'].flatMap((name) => [
  '-p',
  `@stryker-mutator/${name}@${VERSION}`,
]);
const { status } = spawnSync('npx', ['-y', ...packages, 'stryker', 'run', configFile], {
  stdio: 'inherit',
  // For scripts/mutation.jest.mjs.
  env: { ...process.env, MUTATED: libs.join(' ') },
});
rmSync(configFile);
process.exit(status ?? 1);
