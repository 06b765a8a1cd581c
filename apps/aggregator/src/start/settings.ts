import { type Env, parseEnv, processVariables, unknownSettings } from '@app/platform';
import { existsSync } from 'node:fs';
import { loadEnvFile } from 'node:process';
import { parseArgs } from 'node:util';
import { defaultDataDir, isPackage, startWithOptions } from './installation.js';

const HELP = `switchboard: one endpoint for many MCP servers

  ${startWithOptions} [--config <file>]

  --config <file>  register what is new in a file of another MCP client (its mcpServers)
  --help           this text

Settings are environment variables, or stand in .env; .env.example lists them all. The first:
  MCP_AGGREGATOR_PORT      where to listen (8081; 0 takes any free port)
  MCP_AGGREGATOR_DATA_DIR  where everything is kept (${defaultDataDir})

Commands for a running service: npx switchboard --help
`;

/** Invalid command-line arguments. */
export class UnusableArguments extends Error {}

/** Settings of a process: the environment, `.env` in the working directory, and `--config <file>`. */
export function readSettings(
  overrides: Readonly<Record<string, string>> = {},
  args: readonly string[] = process.argv.slice(2),
): Env {
  const inEnvironment = new Set(Object.keys(processVariables));
  if (existsSync('.env')) loadEnvFile();
  const inFile = new Set(Object.keys(processVariables).filter((name) => !inEnvironment.has(name)));
  const values = readArguments(args);
  if (values.help) {
    process.stdout.write(HELP);
    process.exit(0);
  }
  for (const name of unknownSettings(processVariables)) {
    console.error(`${name} is not a setting of this service; .env.example lists them all`);
  }
  const inCommand = {
    ...(isPackage &&
      !processVariables['MCP_AGGREGATOR_DATA_DIR'] && { MCP_AGGREGATOR_DATA_DIR: defaultDataDir }),
    ...overrides,
    ...(values.config && { MCP_AGGREGATOR_CONFIG: values.config }),
  };
  return parseEnv(
    { ...processVariables, ...inCommand },
    { inFile, inCommand: new Set(Object.keys(inCommand)) },
  );
}

function readArguments(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: { config: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    }).values;
  } catch (error) {
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('. ');
    throw new UnusableArguments(`${reason}. "${startWithOptions} --help" shows what can be given.`);
  }
}
