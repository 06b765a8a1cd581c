import type { ApprovalView } from '@app/api-client';
import { Command } from '@commander-js/extra-typings';
import { usageError } from './exit-codes.js';
import type { RestClient } from './rest-client.js';
import { serverId } from './servers/find-server.js';
import type { CommandResult, Perform } from './session.js';
import { fields, table } from './table.js';

export function approvalsGroup(perform: Perform) {
  const group = new Command('approvals').description(
    'tools that changed, and are not offered until a person approves them',
  );
  group
    .command('list', { isDefault: true })
    .description('what waits for approval or was rejected, oldest first')
    .option('--server <server>', 'only of this server')
    .action(({ server }) => perform((rest) => listApprovals(rest, server)));
  group
    .command('show <id>')
    .description('what changed in one definition, what was found in it, and its hash')
    .action((id) => perform((rest) => showApproval(rest, id)));
  group
    .command('approve [id]')
    .description('offer a definition, or with --server everything of a server that waits')
    .requiredOption('--hash <hash>', 'the hash that show printed: nothing else is approved')
    .option('--server <server>', 'everything of this server; servers show prints the hash')
    .action((id, { hash, server }) => perform((rest) => approve(rest, id, server, hash)));
  group
    .command('reject <id>')
    .description('keep a definition withheld until it changes again')
    .requiredOption('--hash <hash>', 'the hash that show printed')
    .action((id, { hash }) => perform((rest) => reject(rest, id, hash)));
  return group;
}

async function listApprovals(rest: RestClient, server?: string): Promise<CommandResult> {
  const id = server === undefined ? undefined : await serverId(rest, server);
  const { first, items } = await rest.list(
    (api, page) => api.listApprovals({ query: { ...page, ...(id && { server_id: id }) } }),
    ({ approvals }) => approvals,
  );
  const rows = items.map((one) => [
    one.id,
    one.state,
    nameOf(one),
    changeOf(one),
    [...new Set(one.findings.map(({ code }) => code))].join(' '),
  ]);
  return {
    json: { ...first, approvals: items },
    text: (screen) =>
      rows.length === 0
        ? 'Nothing waits for approval.'
        : table(['ID', 'STATE', 'NAME', 'CHANGE', 'FOUND'], rows, screen),
  };
}

async function showApproval(rest: RestClient, id: string): Promise<CommandResult> {
  const json = await rest.ask((api) => api.getApproval({ path: { id } }));
  const about = fields([
    ['name', nameOf(json)],
    ['kind', json.kind],
    ['state', json.state],
    ['changed', json.changed_at],
    ['renamed from', json.renamed_from],
    [
      'found',
      json.findings.map(({ code, where, text }) => `${code} in ${where}: ${text}`).join('\n'),
    ],
    ['hash', json.expected_hash],
  ]);
  const changes = json.changes.map(({ path, before, after }) =>
    [
      path,
      ...(before === null ? [] : [`- ${escaped(before)}`]),
      ...(after === null ? [] : [`+ ${escaped(after)}`]),
    ].join('\n'),
  );
  return { json, text: [about, ...changes].join('\n\n') };
}

async function approve(
  rest: RestClient,
  id: string | undefined,
  server: string | undefined,
  hash: string,
): Promise<CommandResult> {
  const body = { expected_hash: hash };
  if (id !== undefined && server === undefined) {
    const json = await rest.ask((api) => api.approveDefinition({ path: { id }, body }));
    return { json, text: 'It is approved and offered.' };
  }
  if (id !== undefined || server === undefined) {
    throw usageError('Give either the id of one definition or --server <server>.');
  }
  const path = { id: await serverId(rest, server) };
  const json = await rest.ask((api) => api.approveServer({ path, body }));
  return { json, text: `${json.definitions} definitions of ${server} are approved and offered.` };
}

async function reject(rest: RestClient, id: string, hash: string): Promise<CommandResult> {
  const body = { expected_hash: hash };
  const json = await rest.ask((api) => api.rejectDefinition({ path: { id }, body }));
  return { json, text: 'It stays withheld until it changes again.' };
}

function nameOf({ server_name, name }: ApprovalView): string {
  return `${server_name}.${name}`;
}

function changeOf({ is_new, renamed_from, fields: members }: ApprovalView): string {
  if (renamed_from !== null) return `renamed from ${renamed_from}`;
  return is_new ? 'new' : members.join(' ');
}

/** JSON escapes controls; other characters that are not shown would be missed by a reader, or change the line. */
function escaped(json: string): string {
  return json.replace(
    /[\p{Cf}\p{Cc}\p{Zl}\p{Zp}\p{Co}]|[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu,
    (hidden) => `\\u{${(hidden.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
