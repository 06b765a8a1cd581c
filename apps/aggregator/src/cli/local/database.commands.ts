import { Command } from '@commander-js/extra-typings';
import { count as countOf } from '../option-values.js';
import { asCliError } from './local-error.js';

const STOPPED = '\nStop every replica first. Make a backup before: "switchboard backup --offline".';

export function migrateCommand() {
  const group = new Command('migrate').description(
    'bring the database of the settings up to date, as every start does',
  );
  group
    .command('run', { isDefault: true })
    .description('apply the migrations that the database does not have')
    .action(async () => {
      const { migrateOffline } = await import('./offline-database.js');
      const names = await asCliError(migrateOffline());
      for (const name of names) print(`applied ${name}`);
      if (names.length === 0) print('nothing is applied');
    });
  group
    .command('revert')
    .description('take back the newest migrations, before an older version is started')
    .option('--count <n>', 'how many the older version does not have', countOf, 1)
    .addHelpText('after', STOPPED)
    .action(async ({ count }) => {
      const { revertOffline } = await import('./offline-database.js');
      let reverted = 0;
      const tell = (name: string): void => {
        reverted += 1;
        print(`reverted ${name}`);
      };
      await asCliError(revertOffline(count, tell));
      if (reverted === 0) print('nothing is reverted');
    });
  return group;
}

export function credentialsCommand() {
  const group = new Command('credentials').description('stored credentials of servers and people');
  group
    .command('rotate')
    .description(
      'encrypt them with MCP_CREDENTIAL_KEY instead of the former key, MCP_CREDENTIAL_KEY_PREVIOUS',
    )
    .action(async () => {
      const { rotateCredentials } = await import('./rotate-credentials.js');
      const servers = await asCliError(rotateCredentials());
      process.stdout.write(
        `credentials of ${servers} servers are now encrypted with MCP_CREDENTIAL_KEY; remove MCP_CREDENTIAL_KEY_PREVIOUS\n`,
      );
    });
  return group;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
