import type { ServerTestView, TestServerDto } from '@app/api-client';
import { exitCodes } from '../exit-codes.js';
import type { RestClient } from '../rest-client.js';
import { visible } from '../screen.js';
import type { CommandResult } from '../session.js';
import { fields } from '../table.js';
import { connectionOf, type NewServer } from './add-server.js';
import { serverId } from './find-server.js';

const MAX_NAMES = 20;

/** A new configuration, or, without one, that of the registered server. */
export async function testServer(
  rest: RestClient,
  name: string,
  command: readonly string[],
  server: Omit<NewServer, 'connect'>,
): Promise<CommandResult> {
  const isNew = command.length > 0 || server.serverUrl !== undefined || server.file !== undefined;
  const body: TestServerDto = isNew
    ? { name, ...(await connectionOf(command, server)) }
    : { server_id: await serverId(rest, name) };
  const json = await rest.ask((api) => api.testServer({ body }));
  return {
    json,
    text: shown(name, json),
    exitCode: json.ok ? exitCodes.ok : exitCodes.failed,
  };
}

function shown(name: string, { server, error, log, warnings, ...rest }: ServerTestView): string {
  if (!server) {
    return [
      `${name} does not work: ${visible(error?.message ?? '')}`,
      ...log.map((line) => `  ${visible(line)}`),
      ...(rest.login_issuer === null ? [] : [`Log in at ${visible(rest.login_issuer)}.`]),
      error?.next_step ?? '',
    ].join('\n');
  }
  const { tools, prompts, resources } = server;
  const names = tools.items.slice(0, MAX_NAMES).map((tool) => tool.name);
  const more = tools.count > names.length ? [`and ${tools.count - names.length} more`] : [];
  const facts = fields([
    ['protocol', `${server.protocol_version} (${server.era})`],
    ['connected in', `${server.connect_ms} ms`],
    ['tools', `${tools.count}: ${[...names, ...more].join(', ')}`],
    ['prompts', String(prompts.count)],
    ['resources', String(resources.count)],
  ]);
  const notes = warnings.map((warning) => `Note: ${visible(warning)}`);
  return [`${name} works. Nothing was saved.`, facts, ...notes].join('\n');
}
