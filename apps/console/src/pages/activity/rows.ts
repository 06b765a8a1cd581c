import type { AuditEntryView } from '@app/api-client';
import { failureOf } from '../../live/feed-row.js';
import type { FeedLine } from '../../live/live-feed.js';
import { texts } from '../../texts/index.js';

export type Kind = 'call' | 'change' | 'refusal' | 'event';

/** One line of the page: from the live channel while it is open, from the audit log before that. */
export interface ActivityRow {
  readonly id: string;
  readonly at: string;
  readonly kind: Kind;
  readonly server: string | undefined;
  readonly tool: string | undefined;
  /** What happened, when it is no call. */
  readonly what: string;
  readonly who: string;
  readonly outcome: string;
  readonly isBad: boolean;
  readonly isRunning: boolean;
  readonly durationMs: number | undefined;
  readonly bytes: number | undefined;
  /** Calls that one row of the audit log stands for. */
  readonly calls: number;
  readonly details: Readonly<Record<string, unknown>>;
}

const { activity: t } = texts;

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;
const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : undefined;

export function rowOfLine(line: FeedLine): ActivityRow {
  if (line.kind === 'news') {
    const { data, topic } = line;
    return {
      id: line.id,
      at: line.at,
      kind: 'event',
      server: textOf(data['server']),
      tool: undefined,
      what: texts.feed.sentence(topic, data),
      who: textOf(data['caller']) ?? '',
      outcome: t.event,
      isBad: data['change'] === 'failed' || data['to'] === 'ERROR',
      isRunning: false,
      durationMs: numberOf(data['duration_ms']),
      bytes: undefined,
      calls: 1,
      details: data,
    };
  }
  const failure = failureOf(line);
  return {
    id: line.id,
    at: line.at,
    kind: 'call',
    server: line.server,
    tool: line.tool,
    what: '',
    who: line.caller ?? '',
    outcome: line.isRunning ? t.running : (failure ?? t.ok),
    isBad: failure !== undefined,
    isRunning: line.isRunning,
    durationMs: line.durationMs,
    bytes: line.bytes,
    calls: 1,
    details: {
      entry: line.entry,
      view: line.view,
      outcome: line.outcome,
      error_code: line.errorCode,
    },
  };
}

function kindOf({ event, outcome }: AuditEntryView): Kind {
  if (event === 'tool.called') return 'call';
  return event === 'access.refused' || outcome === 'refused' ? 'refusal' : 'change';
}

function outcomeOf(kind: Kind, { outcome, details }: AuditEntryView): string {
  const code = textOf(details['error_code']);
  if (code !== undefined) return code.toLowerCase().replaceAll('_', ' ');
  if (outcome === 'failure') return texts.feed.failed;
  if (kind === 'refusal') return t.refused;
  return kind === 'change' ? t.change : t.ok;
}

export function rowOfEntry(entry: AuditEntryView): ActivityRow {
  const kind = kindOf(entry);
  const { details } = entry;
  return {
    id: entry.id,
    at: entry.timestamp,
    kind,
    server: entry.server_name ?? undefined,
    tool: textOf(details['tool']),
    what: t.whatHappened(entry.event),
    who: entry.actor,
    outcome: outcomeOf(kind, entry),
    isBad: entry.outcome !== 'success',
    isRunning: false,
    durationMs: numberOf(details['mean_ms']),
    bytes: undefined,
    calls: numberOf(details['calls']) ?? 1,
    details: { ...details, ip_address: entry.ip_address },
  };
}

export interface Filters {
  readonly kind: string;
  readonly outcome: string;
  readonly server: string;
  readonly text: string;
}

/** The same filters that the audit log applies, for lines of the live channel. */
export function fits(row: ActivityRow, { kind, outcome, server, text }: Filters): boolean {
  if (kind !== '' && row.kind !== kind) return false;
  if (server !== '' && row.server !== server) return false;
  if (outcome !== '' && row.isBad !== (outcome === 'bad')) return false;
  if (text === '') return true;
  const wanted = text.toLowerCase();
  return [row.tool, row.what, row.who, row.server, row.outcome].some((part) =>
    part?.toLowerCase().includes(wanted),
  );
}
