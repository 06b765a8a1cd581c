import { type Env, InvalidEnv } from '@app/platform';
import { readSettings } from '../start/settings.js';
import { checkDatabase } from './check-database.js';
import { checkClock, checkDataFolder, checkNode, checkPort } from './check-machine.js';
import { checkQdrant, checkStoredServers, findService } from './check-services.js';
import { fail, type Finding, ok } from './finding.js';

/** Everything that a start needs, in its order. `serversOf` asks the running service about its servers. */
export async function examine(
  serversOf: (url: string) => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  const env = settings();
  if (!isEnv(env)) return [checkNode(), env];
  const service = await findService(env);
  const { findings, stored } = await checkDatabase(env, service !== undefined);
  return [
    checkNode(),
    ok('settings', 'can be used'),
    await checkDataFolder(env),
    await checkPort(env, service?.url),
    service?.finding ?? ok('service', 'does not run'),
    ...findings,
    ...clockOf(env),
    await checkQdrant(env),
    ...(service
      ? await serversOf(service.url)
      : await checkStoredServers(env, stored?.servers ?? [])),
  ];
}

function clockOf(env: Env): Finding[] {
  const finding = checkClock(env);
  return finding ? [finding] : [];
}

function settings(): Env | Finding {
  try {
    return readSettings({}, []);
  } catch (error) {
    if (!(error instanceof InvalidEnv)) throw error;
    return fail(
      'settings',
      error.problems.join('; '),
      'Correct them; .env.example lists them all.',
    );
  }
}

function isEnv(value: Env | Finding): value is Env {
  return !('outcome' in value);
}
