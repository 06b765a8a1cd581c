import { Logger } from '@nestjs/common';
import type { CommandBus } from '@nestjs/cqrs';
import { SYSTEM } from '@app/access';
import { AppError } from '@app/platform';
import { ReloadConfiguration } from './reload-configuration.command.js';

/**
 * SIGHUP reads the configuration file again; before the returned function is called with a service that has started, it
 * does so then. At a terminal it ends the process, as before: there it means that the terminal was closed.
 */
export function reloadOnHangup(
  isTerminal: boolean = process.stdin.isTTY,
): (commands: CommandBus) => void {
  if (isTerminal) return () => undefined;
  const logger = new Logger('switchboard');
  let begin: (commands: CommandBus) => void = () => undefined;
  const started = new Promise<CommandBus>((resolve) => {
    begin = resolve;
  });
  let last = Promise.resolve();
  const reload = async (): Promise<void> => {
    const commands = await started;
    try {
      const { file, registered, skipped } = await commands.execute(new ReloadConfiguration(SYSTEM));
      const counts = { registered: registered.length, skipped: skipped.length };
      logger.log({ file, ...counts }, 'configuration.reloaded');
    } catch (error) {
      const reason = error instanceof AppError ? error.message : undefined;
      logger.error(
        reason === undefined ? { err: error } : { reason },
        'configuration.not_reloaded',
      );
    }
  };
  process.on('SIGHUP', () => {
    last = last.then(reload);
  });
  return begin;
}
