import 'reflect-metadata';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadEnvFile } from 'node:process';
import {
  AppError,
  DataDirInUse,
  holdDataDir,
  InvalidEnv,
  parseEnv,
  processVariables,
} from '@app/platform';
import { createApp } from './create-app.js';

if (existsSync('.env')) loadEnvFile();

try {
  const env = parseEnv(processVariables);
  await holdDataDir(env.MCP_AGGREGATOR_DATA_DIR);
  const addressFile = join(env.MCP_AGGREGATOR_DATA_DIR, 'address');
  await rm(addressFile, { force: true });
  const app = await createApp(env);
  await app.listen(env.MCP_AGGREGATOR_PORT, env.MCP_AGGREGATOR_HOST);
  await writeFile(addressFile, await app.getUrl());
} catch (error) {
  // A person reads this: say what to mend, without a stack, when the cause is theirs to mend.
  const expected =
    error instanceof InvalidEnv || error instanceof DataDirInUse || error instanceof AppError;
  console.error(expected ? error.message : error);
  process.exit(1);
}
