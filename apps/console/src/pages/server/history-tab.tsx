import { useInfiniteQuery } from '@tanstack/react-query';
import type { HistoryEventView, ServerView } from '@app/api-client';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { ErrorPane, SkeletonRows } from '../../ui/pane.js';
import { TimeAgo } from '../../ui/time.js';
import { serverEventsQuery } from './server-queries.js';

const t = texts.server.history;

function wordsOf({ event_type: type }: HistoryEventView): string {
  const words: Readonly<Record<string, string>> = t.events;
  return words[type] ?? type.toLowerCase().replaceAll('_', ' ');
}

/** Of details that are no text. */
const MAX_CHARS = 200;

/** What the event says about itself, without the state it came from. */
function aboutOf({ details }: HistoryEventView): string {
  const { reason, changes, from: _from, ...others } = details;
  if (typeof reason === 'string') return reason;
  if (Array.isArray(changes)) return changes.map(nameOfChange).join(', ');
  return Object.entries(others)
    .map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
    .slice(0, MAX_CHARS);
}

/** A definition that changed, and which of its fields. */
function nameOfChange(change: unknown): string {
  if (typeof change !== 'object' || change === null) return '';
  const { name, fields } = change as { name?: unknown; fields?: unknown };
  if (typeof name !== 'string') return '';
  return t.changed(name, Array.isArray(fields) ? fields.map(String) : []);
}

interface Entry {
  readonly words: string;
  readonly about: string;
  /** The newest and the oldest of those that say the same one after the other. */
  readonly at: string;
  readonly firstAt: string;
  readonly times: number;
}

/** Attempts end in an event of their own, connected or failed. */
const ATTEMPTS = new Set(['CONNECTING', 'RECONNECT']);

/** Newest first; what repeats itself is one entry. */
function entriesOf(events: readonly HistoryEventView[]): Entry[] {
  const entries: Entry[] = [];
  for (const event of events.filter(({ event_type: type }) => !ATTEMPTS.has(type))) {
    const [words, about, at] = [wordsOf(event), aboutOf(event), event.timestamp];
    const last = entries.at(-1);
    if (last?.words === words && last.about === about) {
      entries.splice(-1, 1, { ...last, firstAt: at, times: last.times + 1 });
    } else entries.push({ words, about, at, firstAt: at, times: 1 });
  }
  return entries;
}

/** Every change of the connection and of the settings, newest first. */
export function HistoryTab({ server }: { readonly server: ServerView }) {
  const events = useInfiniteQuery(serverEventsQuery(server.id));
  if (events.isError) {
    return (
      <ErrorPane title={t.notRead} error={events.error} onRetry={() => void events.refetch()} />
    );
  }
  if (events.data === undefined) return <SkeletonRows />;
  return (
    <>
      <ol className="divide-line divide-y">
        {entriesOf(events.data.pages.flatMap((page) => page.events)).map((entry) => (
          <li
            key={`${entry.at} ${entry.words}`}
            className="flex min-h-(--row) flex-wrap items-center gap-x-4 px-5 py-1.5"
          >
            <span className="text-text-3 w-20 shrink-0 text-small">
              <TimeAgo at={entry.at} bare />
            </span>
            <span className="w-40 shrink-0 font-medium">{entry.words}</span>
            <span className="text-text-2 min-w-0 grow text-small [overflow-wrap:anywhere]">
              {entry.about}
            </span>
            {entry.times > 1 && (
              <span className="text-text-3 text-small">
                {t.times(entry.times)} <TimeAgo at={entry.firstAt} />
              </span>
            )}
          </li>
        ))}
      </ol>
      {events.hasNextPage && (
        <Button
          className="m-5"
          busy={events.isFetchingNextPage}
          onClick={() => void events.fetchNextPage()}
        >
          {texts.common.showMore}
        </Button>
      )}
    </>
  );
}
