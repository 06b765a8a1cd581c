import type { LoggerService } from '@nestjs/common';
import { type Logger as Pino, pino } from 'pino';
import type { Env } from '../config/env.js';
import { SERVICE_NAME } from '../product.js';

/** Keys whose values are redacted in the first two levels of a logged object. */
const SECRET_KEYS = [
  'authorization',
  'cookie',
  'token',
  'secret',
  'password',
  'headers',
  'env',
  'connection_config',
];

/** Contexts in which Nest logs its modules and routes: a hundred lines at each start, logged at debug level only. */
const NEST_ITSELF = new Set([
  'InstanceLoader',
  'NestApplication',
  'NestFactory',
  'RouterExplorer',
  'RoutesResolver',
]);

export async function createPino(
  env: Pick<Env, 'MCP_AGGREGATOR_LOG_LEVEL' | 'MCP_AGGREGATOR_LOG_FORMAT'>,
): Promise<Pino> {
  const toTerminal =
    env.MCP_AGGREGATOR_LOG_FORMAT === 'pretty' ||
    (env.MCP_AGGREGATOR_LOG_FORMAT === 'auto' && process.stdout.isTTY);
  return pino(
    {
      level: env.MCP_AGGREGATOR_LOG_LEVEL,
      base: { service: SERVICE_NAME },
      redact: { paths: SECRET_KEYS.flatMap((key) => [key, `*.${key}`]), censor: '********' },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
    },
    toTerminal ? (await import('./pretty.js')).pretty() : process.stdout,
  );
}

/**
 * Nest's logger on pino. Usage: `new Logger('context').warn({ server_id }, 'server.renamed')`, with an event of
 * docs/logging.md; Nest appends the context as the last argument.
 */
export class PinoLogger implements LoggerService {
  constructor(private readonly pino: Pino) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.write('info', message, rest);
  }
  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
  }
  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }
  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }
  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }
  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  private write(
    level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal',
    message: unknown,
    rest: unknown[],
  ): void {
    const texts = rest.filter((item): item is string => typeof item === 'string');
    const context = texts.pop();
    // Nest logs a failed start with its stack before it throws; the start command prints a readable message instead.
    if (context === 'ExceptionHandler') level = 'debug';
    if (level === 'info' && context !== undefined && NEST_ITSELF.has(context)) level = 'debug';
    if (message instanceof Error)
      return this.pino[level]({ context, err: message }, message.message);
    if (typeof message === 'object' && message !== null) {
      return this.pino[level]({ context, ...message }, texts[0]);
    }
    // Nest's own errors arrive as (message, stack, context).
    return this.pino[level](texts[0] ? { context, stack: texts[0] } : { context }, String(message));
  }
}
