import { Logger } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SYSTEM } from '@app/access';
import { ImportQuerySettings } from '@app/aggregation';
import { AppError, DataDirInUse, type Env, holdDataDir, InvalidEnv, product } from '@app/platform';
import { ImportServers } from '@app/registry';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createApp } from './create-app.js';
import { giveRoomBackWhenQuiet, makeRoomForCalls } from './young-generation.js';

/** Longer than any server needs to close, shorter than what a supervisor waits before it kills. */
const SHUTDOWN_MS = 10_000;

export interface RunningService {
  readonly app: NestFastifyApplication;
  readonly url: string;
}

/** Starts, registers what the servers file has anew, listens, and says where in `<data dir>/address`. */
export async function startService(env: Env): Promise<RunningService> {
  const hold = await holdDataDir(env.MCP_AGGREGATOR_DATA_DIR);
  const addressFile = join(env.MCP_AGGREGATOR_DATA_DIR, 'address');
  rmSync(addressFile, { force: true });
  const app = await createApp(env);
  const stop = async (): Promise<void> => {
    setTimeout(() => process.exit(1), SHUTDOWN_MS).unref();
    rmSync(addressFile, { force: true });
    await app.close();
    hold.close();
    process.exit(0);
  };
  process.once('SIGTERM', () => void stop());
  process.once('SIGINT', () => void stop());
  await app.init();
  if (env.MCP_AGGREGATOR_CONFIG) {
    const commands = app.get(CommandBus);
    await commands.execute(new ImportServers(env.MCP_AGGREGATOR_CONFIG, SYSTEM));
    await commands.execute(new ImportQuerySettings(env.MCP_AGGREGATOR_CONFIG, SYSTEM));
  }
  makeRoomForCalls();
  await app.listen(env.MCP_AGGREGATOR_PORT, env.MCP_AGGREGATOR_HOST);
  const url = reachable(await app.getUrl());
  writeFileSync(addressFile, url);
  new Logger('switchboard').log({ url, version: product.version }, 'listening');
  giveRoomBackWhenQuiet();
  return { app, url };
}

/** An address to listen on is not always one to connect to. */
function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

/** For a person: what to mend, without a stack, when the cause is theirs to mend. */
export function failStart(error: unknown): never {
  const expected =
    error instanceof InvalidEnv || error instanceof DataDirInUse || error instanceof AppError;
  const listening = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
  if (listening)
    console.error(
      'The port is in use; choose another with MCP_AGGREGATOR_PORT (0 takes any free one).',
    );
  else console.error(expected ? error.message : error);
  process.exit(1);
}
