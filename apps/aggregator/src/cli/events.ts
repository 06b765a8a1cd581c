import type { HistoryEventView } from '@app/api-client';
import { Command } from '@commander-js/extra-typings';
import { CliError, exitCodes } from './exit-codes.js';
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
    .description('list connection and configuration events of servers, newest first')
    .argument('[server]', 'only events of this server')
    .option('--limit <count>', 'maximum number of events', count, 20)
    .action((server, { limit }) => perform((rest) => showEvents(rest, server, limit)));
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

export function detailsText(details: Readonly<Record<string, unknown>>): string {
  return Object.entries(details)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
}
