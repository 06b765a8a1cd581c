import {
  AppError,
  type Env,
  inspectDatabase,
  isPooledByTransaction,
  NoDatabase,
  openOnce,
} from '@app/platform';
import { readStoredServers, type StoredServers, storedServerEntities } from '@app/registry';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { migrations } from '../../../../migrations/index.js';
import { startupProblem } from '../start/startup-problem.js';
import { fail, type Finding, ok, warn } from './finding.js';

/** The oldest that the suite runs on. */
const OLDEST_POSTGRES = 15;
const SKEW_MS = 2_000;

export interface DatabaseFindings {
  readonly findings: readonly Finding[];
  /** Undefined when the rows cannot be read. */
  readonly stored: StoredServers | undefined;
}

/** `isRunning`: the service itself has the embedded database open, and nothing else may. */
export async function checkDatabase(env: Env, isRunning: boolean): Promise<DatabaseFindings> {
  if (!env.DATABASE_URL && isRunning) {
    const findings = [ok('database', 'the embedded database is open in the running service')];
    return { findings: [...findings, keyFinding(env)], stored: undefined };
  }
  try {
    const pooler = await poolerFinding(env);
    if (pooler?.outcome === 'fail') return { findings: [pooler], stored: undefined };
    return await openOnce(env, storedServerEntities, async (database) => {
      const state = await inspectDatabase(database, migrations);
      const findings = [
        versionFinding(env, state.major, state.version),
        ...(pooler ? [pooler] : []),
        migrationsFinding(state),
        ...(env.DATABASE_URL ? [clockFinding(state.clockAheadMs)] : []),
      ];
      const isCurrent = state.pending.length === 0 && state.unknown.length === 0;
      const stored = isCurrent ? await readStoredServers(database, env) : undefined;
      return { findings: [...findings, keyFinding(env, stored?.key)], stored };
    });
  } catch (error) {
    if (error instanceof NoDatabase) {
      const finding = ok('database', 'the embedded database will be made by the first start');
      return { findings: [finding, keyFinding(env)], stored: undefined };
    }
    const problem = startupProblem(error);
    if (problem === undefined) throw error;
    const remedy = env.DATABASE_URL
      ? 'Correct DATABASE_URL, or start the database.'
      : 'See docs/operations.md, "The embedded database does not open".';
    return { findings: [fail('database', problem, remedy)], stored: undefined };
  }
}

function versionFinding(env: Env, major: number, version: string): Finding {
  if (!env.DATABASE_URL) return ok('database', `embedded PostgreSQL ${version}`);
  return major < OLDEST_POSTGRES
    ? warn(
        'database',
        `PostgreSQL ${version} answers`,
        `Upgrade it to ${OLDEST_POSTGRES} or newer: older ones are not tested.`,
      )
    : ok('database', `PostgreSQL ${version} answers`);
}

async function poolerFinding(env: Env): Promise<Finding | undefined> {
  const url = env.DATABASE_DIRECT_URL ?? env.DATABASE_URL;
  if (url === undefined) return undefined;
  const isPooled = await isPooledByTransaction(url).catch((error: unknown) => {
    if (error instanceof AppError) throw error;
    return false; // The connection itself fails: the next check says so.
  });
  const setting = env.DATABASE_DIRECT_URL ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL';
  return isPooled
    ? fail(
        'pooler',
        `${setting} leads to a connection pooler in transaction mode`,
        'Set DATABASE_DIRECT_URL to PostgreSQL itself, or set the pooler to session mode.',
      )
    : ok('pooler', `${setting} is a direct connection, or one in session mode`);
}

function migrationsFinding({
  pending,
  unknown,
}: {
  pending: readonly string[];
  unknown: readonly string[];
}): Finding {
  if (unknown.length > 0) {
    return warn(
      'migrations',
      `a newer version has migrated this database: ${unknown.join(', ')}`,
      'Start that version; this one starts only if it is compatible with all of them.',
    );
  }
  return pending.length > 0
    ? warn(
        'migrations',
        `${pending.length} will be applied by the next start`,
        'Make a backup first: switchboard backup --offline <file>.',
      )
    : ok('migrations', 'all are applied');
}

function clockFinding(aheadMs: number): Finding {
  const seconds = (Math.abs(aheadMs) / 1_000).toFixed(1);
  return Math.abs(aheadMs) > SKEW_MS
    ? warn(
        'clock',
        `the clock of the database is ${seconds} s ${aheadMs > 0 ? 'ahead' : 'behind'}`,
        'Synchronise both machines (NTP): tokens, leases and logs compare their times.',
      )
    : ok('clock', `the clock of the database differs by ${seconds} s`);
}

function keyFinding(env: Env, fits?: StoredServers['key']): Finding {
  const file = join(env.MCP_AGGREGATOR_DATA_DIR, 'credential-key');
  if (fits === 'wrong') {
    return fail(
      'encryption key',
      'the credentials in the database are encrypted with another key',
      'Set MCP_CREDENTIAL_KEY to the key that they were stored with, or put the credential-key file back.',
    );
  }
  const proven = fits === 'fits' ? ' and opens the stored credentials' : '';
  if (env.MCP_CREDENTIAL_KEY) return ok('encryption key', `MCP_CREDENTIAL_KEY is set${proven}`);
  if (!existsSync(file)) {
    return ok('encryption key', 'will be made in the data folder by the first start');
  }
  return warn(
    'encryption key',
    `${file} is the key${proven}`,
    'Keep a copy elsewhere, or set MCP_CREDENTIAL_KEY: a backup does not have it, and without it the credentials are lost.',
  );
}
