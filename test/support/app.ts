import 'reflect-metadata';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SchedulerRegistry } from '@nestjs/schedule';
import type { TokenScope } from '@app/platform';
import { randomBytes } from 'node:crypto';
import { createApp } from '../../apps/aggregator/src/create-app.js';
import { temporaryFolder, testEnv } from './env.js';
import { createDatabase } from './postgres.js';

export interface TestApp {
  /** Base URL without a trailing slash. */
  readonly url: string;
  /** A token with the scope `admin`. */
  readonly token: string;
  /** One token per scope; `tokens.admin` is `token`. */
  readonly tokens: Readonly<Record<TokenScope, string>>;
  readonly app: NestFastifyApplication;
  readonly close: () => Promise<void>;
}

/**
 * The whole service on a free port, with its own database in the PostgreSQL of this test run; `{ DATABASE_URL: '' }`
 * starts it on PGlite instead, which takes seconds longer. `prepare` may add routes before it listens.
 * `consoleFolder` has the pages of the console; by default those of the last build.
 */
export async function startApp(
  overrides: Record<string, string> = {},
  prepare: (app: NestFastifyApplication) => void = () => undefined,
  consoleFolder?: string,
): Promise<TestApp> {
  const folder = await temporaryFolder();
  const tokens = {
    read: newToken(),
    call: newToken(),
    operate: newToken(),
    admin: newToken(),
  };
  const env = testEnv(folder.path, {
    DATABASE_URL: overrides['DATABASE_URL'] ?? (await createDatabase()),
    MCP_CREDENTIAL_KEY: 'a-key-for-this-test-only',
    MCP_AGGREGATOR_TOKENS: Object.entries(tokens)
      .map(([scope, token]) => `${scope}:${scope}:${token}`)
      .join(),
    ...overrides,
  });
  const app = await createApp(env, consoleFolder);
  const close = async (): Promise<void> => {
    await app.close();
    await folder.remove();
  };
  try {
    prepare(app);
    await app.listen(env.MCP_AGGREGATOR_PORT, env.MCP_AGGREGATOR_HOST);
  } catch (error) {
    await close();
    throw error;
  }
  const { port } = new URL(await app.getUrl());
  return { url: `http://127.0.0.1:${port}`, token: tokens.admin, tokens, app, close };
}

/**
 * Ends the periodic work of a service, such as its comparison with the rows. What is left are events and messages
 * between replicas, which tests of those need: the comparison would do their work, only later.
 */
export function stopIntervals({ app }: TestApp): void {
  const scheduler = app.get(SchedulerRegistry);
  for (const name of scheduler.getIntervals()) scheduler.deleteInterval(name);
}

function newToken(): string {
  return `test-${randomBytes(24).toString('base64url')}`;
}
