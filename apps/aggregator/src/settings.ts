import { type Env, parseEnv, processVariables, unknownSettings } from '@app/platform';
import { existsSync } from 'node:fs';
import { loadEnvFile } from 'node:process';
import { parseArgs } from 'node:util';

/** Settings of a process: the environment, `.env` beside it, and `--config <file>`. */
export function readSettings(overrides: Readonly<Record<string, string>> = {}): Env {
  if (existsSync('.env')) loadEnvFile();
  const { values } = parseArgs({
    options: { config: { type: 'string' } },
    allowPositionals: true,
  });
  for (const name of unknownSettings(processVariables)) {
    console.error(`${name} is not a setting of this service; .env.example lists them all`);
  }
  return parseEnv({
    ...processVariables,
    ...overrides,
    ...(values.config && { MCP_AGGREGATOR_CONFIG: values.config }),
  });
}
