import type { AuditEntryView } from '@app/api-client';
import { Command, Option } from '@commander-js/extra-typings';
import { detailsText } from './details-text.js';
import { count } from './option-values.js';
import type { RestClient } from './rest-client.js';
import { serverId } from './servers/find-server.js';
import type { CommandResult, Perform } from './session.js';
import { table } from './table.js';

const PAGE = 500;

export function auditCommand(perform: Perform) {
  return new Command('audit')
    .description('list audit log entries, newest first')
    .option('--event <event>', 'only entries of this event, such as tool.called')
    .option('--server <server>', 'only entries about this server')
    .addOption(new Option('--kind <kind>', 'only these').choices(['calls', 'changes'] as const))
    .option('--actor <name>', 'only entries that this token, user or client caused')
    .addOption(
      new Option('--outcome <outcome>', 'only with this outcome').choices([
        'success',
        'refused',
        'failure',
      ] as const),
    )
    .option('--tool <tool>', 'only entries about this tool, as server.tool')
    .option('--text <text>', 'only entries that contain this text')
    .option('--from <time>', 'not before this time, such as 2026-11-20T08:00:00Z')
    .option('--to <time>', 'only before this time')
    .option('--limit <count>', 'maximum number of entries', count, 20)
    .action((options) => perform((rest) => audit(rest, options)));
}

interface AuditFilter {
  readonly event?: string | undefined;
  readonly server?: string | undefined;
  readonly kind?: 'calls' | 'changes' | undefined;
  readonly actor?: string | undefined;
  readonly outcome?: 'success' | 'refused' | 'failure' | undefined;
  readonly tool?: string | undefined;
  readonly text?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly limit: number;
}

async function audit(
  rest: RestClient,
  { server, limit, event, kind, actor, outcome, tool, text, from, to }: AuditFilter,
): Promise<CommandResult> {
  const filter = {
    ...(event !== undefined && { event }),
    ...(kind && { kind }),
    ...(actor !== undefined && { actor }),
    ...(outcome && { outcome }),
    ...(tool !== undefined && { tool }),
    ...(text !== undefined && { text }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(server !== undefined && { server_id: await serverId(rest, server) }),
  };
  const entries: AuditEntryView[] = [];
  for (let cursor: string | null | undefined; entries.length < limit && cursor !== null;) {
    const query = {
      ...filter,
      limit: Math.min(PAGE, limit - entries.length),
      ...(cursor && { cursor }),
    };
    const page = await rest.ask((api) => api.listAuditEntries({ query }));
    entries.push(...page.entries);
    cursor = page.next_cursor;
  }
  const rows = entries.map((entry) => [
    entry.timestamp,
    entry.event,
    entry.outcome,
    entry.server_name ?? '',
    entry.actor,
    detailsText(entry.details),
  ]);
  return {
    json: { entries },
    text: (screen) =>
      rows.length === 0
        ? 'No entry fits.'
        : table(['TIME', 'EVENT', 'OUTCOME', 'SERVER', 'ACTOR', ''], rows, screen),
  };
}
