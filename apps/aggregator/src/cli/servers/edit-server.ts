import type { UpdateServerDto } from '@app/api-client';
import { usageError } from '../exit-codes.js';
import { type JsonMembers, objectIn, readInput } from '../input.js';
import type { RestClient } from '../rest-client.js';
import type { CommandResult } from '../session.js';
import { withSet, without } from './change-config.js';
import { editText } from './edit-text.js';
import { serverId } from './find-server.js';

export interface Edit {
  readonly set?: readonly string[] | undefined;
  readonly unset?: readonly string[] | undefined;
  readonly file?: string | undefined;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly healthCheckUrl?: string | undefined;
  readonly trust?: UpdateServerDto['trust'];
  readonly credentials?: UpdateServerDto['credentials'];
  readonly defaultTrust?: true | undefined;
}

/** Masked secrets that stay as they are keep the stored secrets (ADR 0411). */
export async function editServer(
  rest: RestClient,
  name: string,
  edit: Edit,
): Promise<CommandResult> {
  const isInPlace = Boolean(edit.set ?? edit.unset);
  if (edit.file !== undefined && isInPlace) {
    throw usageError('--file replaces the whole configuration: use it without --set and --unset.');
  }
  const file = edit.file === undefined ? undefined : await readConfig(edit.file);
  const id = await serverId(rest, name);
  const update = (body: UpdateServerDto): Promise<CommandResult> => change(rest, id, body);
  const rows = rowsOf(edit);
  if (file) return update({ ...rows, connection_config: file });
  if (!isInPlace && Object.keys(rows).length > 0) return update(rows);
  const { connection_config: config } = await rest.ask((api) => api.getServer({ path: { id } }));
  if (isInPlace) {
    const changed = (edit.set ?? []).reduce(withSet, (edit.unset ?? []).reduce(without, config));
    return update({ ...rows, connection_config: changed });
  }
  const text = `${JSON.stringify(config, null, 2)}\n`;
  const edited = await editText(`${name}.json`, text, async (next) =>
    update({ connection_config: objectIn(next, 'The edited configuration') }),
  );
  return edited ?? { json: { changed: false }, text: `Nothing was changed in ${name}.` };
}

async function readConfig(file: string): Promise<JsonMembers> {
  return objectIn(await readInput(file), file === '-' ? 'Standard input' : file);
}

function rowsOf(edit: Edit): UpdateServerDto {
  const { name, description, healthCheckUrl, trust, defaultTrust, credentials } = edit;
  return {
    ...(name !== undefined && { name }),
    ...(credentials && { credentials }),
    ...((trust ?? defaultTrust) && { trust: trust ?? null }),
    ...(description !== undefined && { description: description === '' ? null : description }),
    ...(healthCheckUrl !== undefined && {
      health_check_url: healthCheckUrl === '' ? null : healthCheckUrl,
    }),
  };
}

async function change(rest: RestClient, id: string, body: UpdateServerDto): Promise<CommandResult> {
  const json = await rest.ask((api) => api.updateServer({ path: { id }, body }));
  const how = body.connection_config ? ' It reconnects with the new configuration.' : '';
  return { json, text: `${json.name} is changed.${how}` };
}
