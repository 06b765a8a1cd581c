import type { CommanderError, CommandUnknownOpts } from '@commander-js/extra-typings';
import { type CliError, usageError } from './exit-codes.js';

/** What commander refused, as a sentence that says where the usage is shown. */
export function usageProblem(error: CommanderError, command: CommandUnknownOpts): CliError {
  const name = pathOf(command);
  const [what = '', ...hints] = error.message.replace(/^error: /, '').split('\n');
  const hint = hints.length > 0 ? ` ${hints.join(' ')}` : '';
  if (error.code === 'commander.unknownCommand') {
    const [, unknown = ''] = /'(.*)'/.exec(what) ?? [];
    return usageError(`There is no command ${unknown}.${hint} "${name} --help" lists them.`);
  }
  if (error.code === 'commander.excessArguments' && command.parent) {
    const surplus = command.args.slice(command.registeredArguments.length).join(' ');
    const group = command.parent.parent
      ? ` "${pathOf(command.parent)} --help" lists its commands.`
      : '';
    return usageError(`"${name}" does not take ${surplus}.${group}`);
  }
  const isProgram = error.code === 'commander.unknownOption' && command.name() === 'add';
  const advice = isProgram ? ' Options of the program to register come after --.' : '';
  const sentence = what.charAt(0).toUpperCase() + what.slice(1).replace(/\.?$/, '.');
  return usageError(`${sentence}${hint}${advice} "${name} --help" shows its usage.`);
}

function pathOf(command: CommandUnknownOpts): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}
