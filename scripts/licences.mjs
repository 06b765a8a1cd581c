import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

/*
 * `npm run licences [folder]`: checks the licences of all production dependencies in package-lock.json, and known
 * advisories if the registry is reachable. Exits with 1 on a licence that is missing or not allowed, and on a known
 * advisory of level high or critical.
 */

/** Permissive licences: the only obligation is to keep the notices. */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'PostgreSQL',
  'Python-2.0',
  'Unlicense',
]);
const FATAL = ['high', 'critical'];
const AUDIT_WITHIN_MS = 60_000;

const folder = resolve(process.argv[2] ?? '.');
const packages = productionPackages();
const refused = packages.filter(({ licence }) => !isAllowed(licence));
console.log(`licences   ${packages.length} packages: ${counted(packages)}`);
for (const { name, version, licence } of refused) {
  console.log(`           ${name}@${version} has ${licence ?? 'no licence'}, which is not allowed`);
}
const advisories = await knownAdvisories();
console.log(`advisories ${advisories.line}`);
process.exitCode = refused.length > 0 || advisories.isFatal ? 1 : 0;

function productionPackages() {
  const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  return Object.entries(lock.packages)
    .filter(([path, { dev, link }]) => path !== '' && !dev && !link)
    .map(([path, { name, version, license }]) => ({
      name: name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version,
      licence: license ?? licenceOfInstalled(path),
    }));
}

/** Old packages declare the licence where the lock file does not have it. */
function licenceOfInstalled(path) {
  try {
    const { license, licenses } = JSON.parse(
      readFileSync(join(folder, path, 'package.json'), 'utf8'),
    );
    return license?.type ?? license ?? licenses?.map(({ type }) => type).join(' AND ');
  } catch {
    return undefined; // not installed on this platform
  }
}

/** SPDX: of alternatives (OR) one must be allowed, of a conjunction (AND) all. */
function isAllowed(licence) {
  if (typeof licence !== 'string' || licence === '') return false;
  return licence
    .replaceAll(/[()]/g, '')
    .split(/\s+OR\s+/i)
    .some((all) => all.split(/\s+AND\s+/i).every((one) => ALLOWED.has(one.trim())));
}

function counted(list) {
  const counts = new Map();
  for (const { licence } of list) counts.set(licence, (counts.get(licence) ?? 0) + 1);
  return [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([licence, count]) => `${count} ${licence ?? 'none'}`)
    .join(', ');
}

async function knownAdvisories() {
  const report = await npmAudit();
  const counts = report?.metadata?.vulnerabilities;
  if (!counts) return { line: 'not known: the registry does not answer', isFatal: false };
  const found = Object.entries(counts).filter(([level, count]) => level !== 'total' && count > 0);
  const names = Object.keys(report.vulnerabilities ?? {});
  return {
    line:
      found.length === 0
        ? 'none known'
        : `${found.map(([level, count]) => `${count} ${level}`).join(', ')}: ${names.join(', ')}`,
    isFatal: found.some(([level]) => FATAL.includes(level)),
  };
}

/** Exits with 1 when there are any; its output is used. */
async function npmAudit() {
  const { stdout } = await promisify(execFile)('npm', ['audit', '--json', '--omit=dev'], {
    cwd: folder,
    timeout: AUDIT_WITHIN_MS,
    maxBuffer: 64 * 1_048_576,
  }).catch((error) => error);
  try {
    return JSON.parse(stdout);
  } catch {
    return undefined;
  }
}
