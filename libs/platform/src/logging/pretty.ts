import { PinoPretty } from 'pino-pretty';

/** One line an event, for a person at a terminal. */
export function pretty(): NodeJS.WritableStream {
  return PinoPretty({
    colorize: true,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'context',
    messageFormat: '[{context}] {msg}',
    singleLine: true,
    sync: true,
  });
}
