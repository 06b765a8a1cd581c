import { Logger } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SYSTEM } from '@app/access';
import {
  Drain,
  EmbeddedDatabase,
  type Env,
  makeDataDir,
  OwnFile,
  product,
  warnOfFewDescriptors,
} from '@app/platform';
import { ReloadConfiguration, reloadOnHangup } from '@app/operations';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createApp } from '../create-app.js';
import { drainCalls } from '../http/drain-calls.js';

import { startupProblem } from './startup-problem.js';
import { stopOnSignals } from './stop-on-signals.js';
import {
  giveRoomBackWhenQuiet,
  makeRoomForCalls,
  makeRoomForLargeStart,
} from './young-generation.js';

/** Deadline for closing everything after the drain: longer than any server needs. */
const CLOSE_WITHIN_MS = 5_000;

/** Balancers stand before replicas, and only a PostgreSQL server can have several. */
const DELAY_WITH_REPLICAS_S = 5;

export interface RunningService {
  readonly app: NestFastifyApplication;
  readonly url: string;
}

/** Starts, registers new servers of the servers file, listens, and writes the URL to `<data dir>/address`. */
export async function startService(env: Env): Promise<RunningService> {
  // First, because without a handler the signal ends the process.
  const reloadFromNow = reloadOnHangup();
  makeDataDir(env.MCP_AGGREGATOR_DATA_DIR);
  const addressFile = join(env.MCP_AGGREGATOR_DATA_DIR, 'address');
  const address = new OwnFile(addressFile);
  const app = await createApp(env);
  // The data folder is locked, so an existing address file is stale. Replicas on PostgreSQL may share a folder.
  if (!env.DATABASE_URL) rmSync(addressFile, { force: true });
  warnOfFewDescriptors(env.MCP_AGGREGATOR_MAX_SERVERS);
  const stop = async (): Promise<void> => {
    const graceMs = env.MCP_AGGREGATOR_SHUTDOWN_GRACE * 1_000;
    setTimeout(() => process.exit(1), graceMs + CLOSE_WITHIN_MS).unref();
    address.remove();
    app.get(EmbeddedDatabase).sayStopping();
    await drainCalls(app, graceMs);
    await app.close();
    process.exit(0);
  };
  stopOnSignals(app.get(Drain), shutdownDelayMs(env), stop);
  makeRoomForLargeStart();
  await app.init();
  if (env.MCP_AGGREGATOR_CONFIG) await app.get(CommandBus).execute(new ReloadConfiguration(SYSTEM));
  reloadFromNow(app.get(CommandBus));
  makeRoomForCalls();
  await app.listen(env.MCP_AGGREGATOR_PORT, env.MCP_AGGREGATOR_HOST);
  const url = reachable(await app.getUrl());
  address.write(url);
  new Logger('switchboard').log({ url, version: product.version }, 'listening');
  giveRoomBackWhenQuiet();
  return { app, url };
}

function shutdownDelayMs(env: Env): number {
  const usual = env.DATABASE_URL ? DELAY_WITH_REPLICAS_S : 0;
  return (env.MCP_AGGREGATOR_SHUTDOWN_DELAY ?? usual) * 1_000;
}

/** A listen address such as 0.0.0.0 is not always one to connect to. */
function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

/** Prints a failure that the operator can fix without a stack. */
export function failStart(error: unknown): never {
  console.error(startupProblem(error) ?? error);
  process.exit(1);
}
