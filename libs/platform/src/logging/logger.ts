import type { LoggerService } from '@nestjs/common';
import { type Logger as Pino, pino } from 'pino';
import type { Env } from '../config/env.js';

/** Keys whose values never reach a log line, wherever they stand in the first two levels of a logged object. */
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

/** Where Nest tells of its modules and routes: a hundred lines at each start, for whoever debugs them. */
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
      base: null,
      redact: { paths: SECRET_KEYS.flatMap((key) => [key, `*.${key}`]), censor: '********' },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
    },
    toTerminal ? (await import('./pretty.js')).pretty() : process.stdout,
  );
}

/**
 * Nest's logger on pino. Everywhere in the code: `new Logger('context').warn({ serverId }, 'what happened')`
 * or only a message; Nest appends the context as the last argument.
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
    // Nest logs a failed start with its stack before it throws; whoever catches it says it in words.
    if (context === 'ExceptionHandler') level = 'debug';
    if (level === 'info' && context !== undefined && NEST_ITSELF.has(context)) level = 'debug';
    if (message instanceof Error)
      return this.pino[level]({ context, err: message }, message.message);
    if (typeof message === 'object' && message !== null) {
      return this.pino[level]({ context, ...message }, texts[0]);
    }
    // Nest's own errors come as (message, stack, context).
    return this.pino[level](texts[0] ? { context, stack: texts[0] } : { context }, String(message));
  }
}
