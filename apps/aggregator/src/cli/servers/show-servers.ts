import type { ServerDetailView, ServerView } from '@app/api-client';
import type { RestClient } from '../rest-client.js';
import type { CommandResult } from '../session.js';
import { fields, table } from '../table.js';
import { allServers, serverId } from './find-server.js';

export async function listServers(
  rest: RestClient,
  status: ServerView['status'] | undefined,
): Promise<CommandResult> {
  const { first, items } = await allServers(rest, status);
  const rows = items.map((server) => [
    server.name,
    server.status,
    server.transport_type,
    String(server.tool_count),
    server.error_message ?? '',
  ]);
  const none = status
    ? `No server is ${status}.`
    : 'No server is registered yet: switchboard servers add <name> -- <command> [arguments]';
  return {
    json: { ...first, servers: items },
    text: (screen) =>
      rows.length === 0 ? none : table(['NAME', 'STATUS', 'TRANSPORT', 'TOOLS', ''], rows, screen),
  };
}

export async function showServer(rest: RestClient, name: string): Promise<CommandResult> {
  const id = await serverId(rest, name);
  const json = await rest.ask((api) => api.getServer({ path: { id } }));
  return { json, text: described(json) };
}

export function described(server: ServerDetailView): string {
  const { authorization } = server;
  return fields([
    ['name', server.name],
    ['id', server.id],
    ['description', server.description],
    ['status', server.status],
    ['error', server.error_message],
    ['transport', server.transport_type],
    ['tools', String(server.tool_count)],
    ['trust', server.trust],
    ['credentials', server.credentials],
    ['withheld', withheldOf(server)],
    ['registered', server.registered_at],
    ['connected', server.connected_at],
    ['last check', server.last_health_check],
    ['health check', server.health_check_url],
    ['authorization', authorization && [authorization.status, authorization.url].join(' ').trim()],
    ['warnings', server.warnings.join('\n')],
    ['configuration', JSON.stringify(server.connection_config, null, 2)],
  ]);
}

function withheldOf({ name, withheld }: ServerDetailView): string | null {
  const { tools, prompts, instructions, expected_hash: hash } = withheld;
  const parts = [
    ...(tools > 0 ? [`${tools} tools`] : []),
    ...(prompts > 0 ? [`${prompts} prompts`] : []),
    ...(instructions > 0 ? ['instructions'] : []),
  ];
  if (parts.length === 0) return null;
  const approve =
    hash === null ? '' : `\nswitchboard approvals approve --server ${name} --hash ${hash}`;
  return `${parts.join(', ')}: switchboard approvals list --server ${name}${approve}`;
}
