import { PinoPretty } from 'pino-pretty';

/** One line per event, for a terminal. */
export function pretty(): NodeJS.WritableStream {
  return PinoPretty({
    colorize: true,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'context,service',
    messageFormat: '[{context}] {msg}',
    singleLine: true,
    sync: true,
  });
}
