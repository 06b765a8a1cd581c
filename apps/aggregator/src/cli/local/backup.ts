import { Command } from '@commander-js/extra-typings';
import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { usageError } from '../exit-codes.js';
import type { RestClient } from '../rest-client.js';
import type { CommandResult, Perform } from '../session.js';
import { asCliError } from './local-error.js';

export function backupCommand(perform: Perform) {
  return new Command('backup')
    .description('write a backup of the database to a file, while the service runs')
    .argument('<file>', 'new file, such as switchboard.jsonl.gz; only its owner may read it')
    .option('--offline', 'open the database of the settings, when no service runs')
    .addHelpText(
      'after',
      '\nThe key of stored credentials (MCP_CREDENTIAL_KEY, or credential-key in the data folder) is not in\na backup; keep a copy of it elsewhere. Restore with "switchboard restore".',
    )
    .action((file, { offline: isOffline }) => {
      if (existsSync(file)) throw usageError(`${file} exists already.`);
      return isOffline === true ? offline(file) : perform((rest) => backup(rest, file));
    });
}

async function backup(rest: RestClient, file: string): Promise<CommandResult> {
  const draft = `${file}.part`;
  const made = await open(draft, 'wx', 0o600).catch((error: unknown) => {
    // Of another run, which still writes it or was killed.
    if (!existsSync(draft)) throw error;
    throw usageError(`${draft} exists already. Remove it, unless another backup is writing it.`);
  });
  try {
    const bytes = await rest.bytes((api) => api.takeBackup({ parseAs: 'stream' }));
    await pipeline(Readable.fromWeb(bytes), made.createWriteStream());
    await rename(draft, file);
  } catch (error) {
    await made.close().catch(() => undefined);
    await rm(draft, { force: true });
    throw error;
  }
  return { json: { file }, text: `${file} is written.` };
}

async function offline(file: string): Promise<void> {
  const { backupOffline } = await import('./offline-database.js');
  await asCliError(backupOffline(file));
  process.stdout.write(`${file} is written.
`);
}

export function restoreCommand() {
  return new Command('restore')
    .description('make the database of the settings from a backup, when no service runs')
    .argument('<file>', 'file that "switchboard backup" has written')
    .option('--replace', 'replace a database that is there; it is kept under another name')
    .action(async (file, { replace }) => {
      if (!existsSync(file)) throw usageError(`There is no file ${file}.`);
      const { restoreOffline } = await import('./offline-database.js');
      const { head, rows, tables, former } = await asCliError(
        restoreOffline(file, replace === true),
      );
      const kept = former === undefined ? '' : ` The former database is kept in ${former}.`;
      process.stdout.write(
        `${rows} rows of ${tables} tables are restored, as of ${head.created_at} (Switchboard ${head.version}).${kept}\n` +
          'Start the service with the key that it had then: MCP_CREDENTIAL_KEY, or credential-key in the data folder.\n',
      );
    });
}
