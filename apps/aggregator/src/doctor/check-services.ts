import {
  connectionProblem,
  Egress,
  egressPolicy,
  type Env,
  processVariables,
  SERVICE_NAME,
} from '@app/platform';
import type { StoredServer } from '@app/registry';
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, sep } from 'node:path';
import type { Dispatcher } from 'undici';
import { z } from 'zod';
import { fail, type Finding, ok, warn } from './finding.js';

const WITHIN_MS = 5_000;
/** At the same time. */
const PROBES = 8;

const healthSchema = z.object({
  service: z.string(),
  status: z.string(),
  issues: z.array(z.string()).optional(),
});

export interface RunningService {
  readonly url: string;
  readonly finding: Finding;
}

/** By the address file of the data folder; undefined when no service answers there. */
export async function findService(env: Env): Promise<RunningService | undefined> {
  const url = textOf(join(env.MCP_AGGREGATOR_DATA_DIR, 'address'));
  if (url === undefined || !URL.canParse(url)) return undefined;
  try {
    const answer = await fetch(`${url}/health`, { signal: AbortSignal.timeout(WITHIN_MS) });
    const { service, status, issues = [] } = healthSchema.parse(await answer.json());
    if (service !== SERVICE_NAME) return undefined;
    const detail = `runs at ${url}, ${status}`;
    if (status === 'healthy') return { url, finding: ok('service', detail) };
    const remedy = issues.join('; ') || 'See its log.';
    const found = status === 'degraded' ? warn : fail;
    return { url, finding: found('service', detail, remedy) };
  } catch {
    return undefined;
  }
}

export async function checkQdrant(env: Env): Promise<Finding> {
  if (!env.QDRANT_URL) return ok('qdrant', 'not configured: vectors are compared in the process');
  const { host } = new URL(env.QDRANT_URL);
  try {
    const answer = await fetch(`${env.QDRANT_URL.replace(/\/+$/, '')}/collections`, {
      headers: env.QDRANT_API_KEY ? { 'api-key': env.QDRANT_API_KEY } : {},
      signal: AbortSignal.timeout(WITHIN_MS),
    });
    await answer.body?.cancel();
    if (answer.ok) return ok('qdrant', `${host} answers`);
    return answer.status === 401 || answer.status === 403
      ? fail('qdrant', `${host} refuses the key (HTTP ${answer.status})`, 'Correct QDRANT_API_KEY.')
      : fail('qdrant', `${host} answered HTTP ${answer.status}`, 'Correct QDRANT_URL.');
  } catch (error) {
    return warn(
      'qdrant',
      `${host} does not answer (${reasonOf(error)})`,
      'Start it, or correct QDRANT_URL; until then search uses the vectors in the process.',
    );
  }
}

/** Whether the programs of servers are installed, and their addresses answer; nothing is started. */
export async function checkStoredServers(
  env: Env,
  servers: readonly StoredServer[],
): Promise<Finding[]> {
  // The service connects by the same rule.
  const agent = await new Egress(egressPolicy(env)).agent();
  try {
    const findings: Finding[] = [];
    for (let start = 0; start < servers.length; start += PROBES) {
      const some = servers.slice(start, start + PROBES);
      findings.push(...(await Promise.all(some.map((server) => checkServer(server, agent)))));
    }
    return findings;
  } finally {
    await agent.destroy();
  }
}

async function checkServer(
  { name, wanted, target }: StoredServer,
  agent: Dispatcher,
): Promise<Finding> {
  const check = `server ${name}`;
  if (!wanted) return ok(check, 'is not to be connected');
  if (!target) {
    return fail(check, 'its configuration cannot be decrypted', 'See the check of the key.');
  }
  if (target.kind === 'program') {
    return isProgram(target.command)
      ? ok(check, `${target.command} is installed`)
      : fail(
          check,
          `there is no program ${target.command}`,
          'Install it for the user of the service, or correct the command: switchboard servers edit.',
        );
  }
  const { origin, pathname, search } = new URL(target.url);
  try {
    const { request } = await import('undici');
    const { body } = await request(`${origin}${pathname}${search}`, {
      method: 'HEAD',
      dispatcher: agent,
      signal: AbortSignal.timeout(WITHIN_MS),
    });
    await body.dump();
    // Without the session and the credentials of a client any answer is one.
    return ok(check, `${origin} answers`);
  } catch (error) {
    return fail(
      check,
      `${origin} does not answer (${reasonOf(error)})`,
      'Start it, or correct its address: switchboard servers edit.',
    );
  }
}

function isProgram(command: string): boolean {
  const folders =
    isAbsolute(command) || command.includes(sep)
      ? ['']
      : (processVariables['PATH'] ?? '').split(delimiter);
  const endings = process.platform === 'win32' ? ['', '.exe', '.cmd', '.bat'] : [''];
  return folders.some((folder) =>
    endings.some((ending) => isExecutable(join(folder, command + ending))),
  );
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'no answer in time';
  const cause = error instanceof Error ? error.cause : undefined;
  return connectionProblem(cause) ?? connectionProblem(error) ?? 'no HTTP answer';
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined;
  }
}
