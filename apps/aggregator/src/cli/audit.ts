import type { AuditEntryView } from '@app/api-client';
import { Command } from '@commander-js/extra-typings';
import { detailsText } from './events.js';
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
    .option('--limit <count>', 'maximum number of entries', count, 20)
    .action((options) => perform((rest) => audit(rest, options)));
}

interface AuditFilter {
  readonly event?: string | undefined;
  readonly server?: string | undefined;
  readonly limit: number;
}

async function audit(
  rest: RestClient,
  { event, server, limit }: AuditFilter,
): Promise<CommandResult> {
  const filter = {
    ...(event !== undefined && { event }),
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
