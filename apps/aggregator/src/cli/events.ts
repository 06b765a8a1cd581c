import type { HistoryEventView } from '@app/api-client';
import { Command, Option } from '@commander-js/extra-typings';
import { detailsText } from './details-text.js';
import { CliError, exitCodes, usageError } from './exit-codes.js';
import { followEvents, LIVE_TOPICS } from './follow-events.js';
import { count } from './option-values.js';
import type { RestClient } from './rest-client.js';
import type { CommandResult, Perform } from './session.js';
import { allServers, serverId } from './servers/find-server.js';
import { table } from './table.js';

/** Requests at the same time. */
const AT_ONCE = 8;
const PAGE = 500;

type ServerEvent = HistoryEventView & { readonly server: string };

export function eventsCommand(perform: Perform) {
  return new Command('events')
    .description('list connection and configuration events of servers, or follow what happens')
    .argument('[server]', 'only events of this server')
    .option('--limit <count>', 'maximum number of events', count, 20)
    .option('--follow', 'print events of every topic as they happen, until Ctrl+C')
    .addOption(new Option('--topics <topics...>', 'with --follow: only these').choices(LIVE_TOPICS))
    .action((server, { limit, follow, topics }) => {
      if (topics && !follow) throw usageError('--topics is about what happens: give --follow too.');
      return perform((rest, output) =>
        follow ? followEvents(rest, output, { topics, server }) : showEvents(rest, server, limit),
      );
    });
}

/** The history of one server, or the newest entries of the histories of all. */
export async function showEvents(
  rest: RestClient,
  server: string | undefined,
  limit: number,
): Promise<CommandResult> {
  const events =
    server === undefined
      ? await eventsOfAll(rest, limit)
      : await eventsOf(rest, { id: await serverId(rest, server), name: server }, limit);
  const rows = events.map((event) => [
    event.timestamp,
    event.server,
    event.event_type,
    detailsText(event.details),
  ]);
  return {
    json: { events },
    text: (screen) =>
      rows.length === 0
        ? 'Nothing has happened yet.'
        : table(['TIME', 'SERVER', 'EVENT', ''], rows, screen),
  };
}

async function eventsOfAll(rest: RestClient, limit: number): Promise<readonly ServerEvent[]> {
  const { items: waiting } = await allServers(rest);
  const queue = [...waiting];
  const found: ServerEvent[] = [];
  const work = async (): Promise<void> => {
    for (let server = queue.pop(); server; server = queue.pop()) {
      found.push(...(await eventsOf(rest, server, limit).catch(noneIfRemoved)));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return newest(found, limit);
}

function noneIfRemoved(error: unknown): readonly ServerEvent[] {
  if (error instanceof CliError && error.exitCode === exitCodes.notFound) return [];
  throw error;
}

export function newest(events: readonly ServerEvent[], limit: number): readonly ServerEvent[] {
  return events
    .toSorted((a, b) => Date.parse(b.timestamp) - Date.parse(a.timestamp))
    .slice(0, limit);
}

async function eventsOf(
  rest: RestClient,
  { id, name }: { readonly id: string; readonly name: string },
  limit: number,
): Promise<readonly ServerEvent[]> {
  const events: HistoryEventView[] = [];
  for (let cursor: string | null | undefined; events.length < limit && cursor !== null;) {
    const query = { limit: Math.min(PAGE, limit - events.length), ...(cursor && { cursor }) };
    const page = await rest.ask((api) => api.listServerHistory({ path: { id }, query }));
    events.push(...page.events);
    cursor = page.next_cursor;
  }
  return events.map((event) => ({ server: name, ...event }));
}
