import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Perform } from '../session.js';
import { backupCommand, restoreCommand } from './backup.js';
import { credentialsCommand, migrateCommand } from './database.commands.js';
import { type ClientOf, doctorCommand } from './doctor.js';

/** Commands that are the service themselves, instead of asking a running one. Each loads its modules on demand. */
export function localCommands(perform: Perform, clientOf: ClientOf): CommandUnknownOpts[] {
  return [
    startCommand(),
    demoCommand(),
    doctorCommand(perform, clientOf),
    backupCommand(perform),
    restoreCommand(),
    migrateCommand(),
    credentialsCommand(),
  ];
}

function startCommand() {
  return new Command('start')
    .description('start the service; settings are environment variables, or stand in .env')
    .option('--config <file>', 'register what is new in a file of another MCP client')
    .action(async () => {
      // Reads the arguments of the process by itself, as `npm start` does.
      await import('../../main.js');
    });
}

function demoCommand() {
  return new Command('demo')
    .description('start the service with three servers, and show a search and a call')
    .action(async () => {
      await import('../../demo.js');
    });
}
