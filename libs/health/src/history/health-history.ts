import type { HistoryEntry, ServerStatus } from '@app/registry';
import { z } from 'zod';

/** A time in which the status of a server did not change. */
export interface HealthInterval {
  readonly state: ServerStatus;
  /** ms since 1970; `to` of the last one is the time of the question. */
  readonly from: number;
  readonly to: number;
  /** Why it is not connected. */
  readonly reason: string | null;
  /** It waits until a person logs in. */
  readonly needsLogin: boolean;
  /** Attempts to connect that failed meanwhile, and shorter intervals that were merged into it. */
  readonly attempts: number;
  readonly merged: number;
}

export const healthEventKinds = [
  'connected',
  'degraded',
  'failed',
  'needs_login',
  'disconnected',
  'changed',
  'tools',
] as const;
export type HealthEventKind = (typeof healthEventKinds)[number];

/** Something that a person would mark on the time axis. */
export interface HealthEvent {
  readonly at: number;
  readonly kind: HealthEventKind;
  readonly text: string;
}

export interface HealthHistory {
  readonly intervals: readonly HealthInterval[];
  /** Oldest first. */
  readonly events: readonly HealthEvent[];
}

export interface HistoryWindow {
  readonly from: number;
  readonly to: number;
  readonly registeredAt: number;
  /** The status that the row has now. */
  readonly status: ServerStatus;
}

export const MAX_INTERVALS = 200;

/** The history of a server as intervals and events; `entries` oldest first. */
export function healthHistory(
  entries: readonly HistoryEntry[],
  window: HistoryWindow,
): HealthHistory {
  const read = entries.map(readEntry);
  const spans = clipped(withoutAttempts(spansOf(read, window)), window);
  return { intervals: merged(spans, window), events: eventsOf(read, window) };
}

const details = z.object({
  from: z.string().optional().catch(undefined),
  to: z.string().optional().catch(undefined),
  reason: z.string().optional().catch(undefined),
  needs_login: z.boolean().optional().catch(undefined),
  fields: z.array(z.string()).optional().catch(undefined),
  count: z.number().optional().catch(undefined),
});

interface ReadEntry {
  readonly at: number;
  readonly type: string;
  /** Undefined for an entry that is not about the status. */
  readonly state: ServerStatus | undefined;
  readonly details: z.infer<typeof details>;
}

const STATES = {
  DISCONNECTED: 1,
  CONNECTED: 0,
  CONNECTING: 2,
  DISCONNECTING: 2,
  DEGRADED: 3,
  ERROR: 4,
} as const satisfies Record<ServerStatus, number>;

function stateIn(text: string | undefined): ServerStatus | undefined {
  const known: readonly ServerStatus[] = [
    'DISCONNECTED',
    'CONNECTING',
    'CONNECTED',
    'DEGRADED',
    'DISCONNECTING',
    'ERROR',
  ];
  return known.find((state) => state === text);
}

function readEntry({ eventType, timestamp, details: given }: HistoryEntry): ReadEntry {
  const parsed = details.safeParse(given);
  return {
    at: timestamp.getTime(),
    type: eventType,
    state: stateIn(eventType),
    details: parsed.data ?? {},
  };
}

function spansOf(entries: readonly ReadEntry[], window: HistoryWindow): HealthInterval[] {
  const changes = entries.filter((entry) => entry.state !== undefined);
  const [first] = changes;
  const before = first ? stateIn(first.details.from) : window.status;
  const spans: HealthInterval[] = [];
  if (before) spans.push(span(before, window.registeredAt, first?.at ?? window.to, {}));
  changes.forEach(({ at, state, details: { reason, needs_login } }, i) => {
    const to = changes[i + 1]?.at ?? window.to;
    if (state) spans.push(span(state, at, to, { reason, needsLogin: needs_login }));
  });
  return spans;
}

function span(
  state: ServerStatus,
  from: number,
  to: number,
  why: { readonly reason?: string | undefined; readonly needsLogin?: boolean | undefined },
): HealthInterval {
  const { reason = null, needsLogin = false } = why;
  return { state, from, to: Math.max(from, to), reason, needsLogin, attempts: 0, merged: 0 };
}

/** An attempt to connect that failed belongs to the time without a connection, whose reason it renews. */
function withoutAttempts(spans: readonly HealthInterval[]): HealthInterval[] {
  const kept: HealthInterval[] = [];
  for (const next of spans) {
    const [last, attempt] = [kept.at(-2), kept.at(-1)];
    if (next.state !== 'ERROR' || last?.state !== 'ERROR' || attempt?.state !== 'CONNECTING') {
      kept.push(next);
      continue;
    }
    kept.splice(-2, 2, {
      ...last,
      to: next.to,
      reason: next.reason ?? last.reason,
      needsLogin: next.needsLogin || last.needsLogin,
      attempts: last.attempts + 1,
    });
  }
  return kept;
}

function clipped(spans: readonly HealthInterval[], { from, to }: HistoryWindow): HealthInterval[] {
  return spans
    .map((one) => ({ ...one, from: Math.max(one.from, from), to: Math.min(one.to, to) }))
    .filter((one) => one.to > one.from);
}

/** At most MAX_INTERVALS: those that begin in the same part of the window become one, with the worst state. */
function merged(spans: readonly HealthInterval[], { from, to }: HistoryWindow): HealthInterval[] {
  if (spans.length <= MAX_INTERVALS) return [...spans];
  const partOf = ({ from: at }: HealthInterval): number =>
    Math.min(MAX_INTERVALS - 1, Math.floor(((at - from) / (to - from)) * MAX_INTERVALS));
  const kept: HealthInterval[] = [];
  for (const next of spans) {
    const last = kept.at(-1);
    if (!last || partOf(last) !== partOf(next)) {
      kept.push(next);
      continue;
    }
    const worse = STATES[next.state] > STATES[last.state] ? next : last;
    kept.splice(-1, 1, {
      ...worse,
      from: last.from,
      to: next.to,
      attempts: last.attempts + next.attempts,
      merged: last.merged + next.merged + 1,
    });
  }
  return kept;
}

function eventsOf(entries: readonly ReadEntry[], { from }: HistoryWindow): HealthEvent[] {
  const events: HealthEvent[] = [];
  let state: ServerStatus | undefined;
  let isFailing = false;
  let neededLogin = false;
  for (const entry of entries) {
    const wasFailing = isFailing;
    const wasLogin = neededLogin;
    const needsLogin = entry.details.needs_login === true;
    if (entry.state) {
      state = entry.state;
      if (state === 'ERROR') [isFailing, neededLogin] = [true, needsLogin];
      else if (state !== 'CONNECTING') [isFailing, neededLogin] = [false, false];
    }
    // Attempts to connect repeat what was said already.
    const isRepeated = state === 'ERROR' && wasFailing && (wasLogin || !needsLogin);
    const event = entry.state && isRepeated ? undefined : eventOf(entry);
    if (event && event.at >= from) events.push(event);
  }
  return events;
}

function eventOf({ at, type, details: about }: ReadEntry): HealthEvent | undefined {
  switch (type) {
    case 'CONNECTED':
      return { at, kind: 'connected', text: about.from === 'DEGRADED' ? 'Recovered' : 'Connected' };
    case 'DEGRADED':
      return { at, kind: 'degraded', text: about.reason ?? 'Health checks fail' };
    case 'ERROR':
      return about.needs_login
        ? { at, kind: 'needs_login', text: about.reason ?? 'A person has to log in' }
        : { at, kind: 'failed', text: about.reason ?? 'The connection was lost' };
    case 'DISCONNECTED':
      return { at, kind: 'disconnected', text: 'Disconnected by request' };
    case 'REGISTERED':
      return { at, kind: 'changed', text: 'Registered' };
    case 'UPDATED':
      return { at, kind: 'changed', text: `Changed: ${about.fields?.join(', ') || 'nothing'}` };
    case 'RENAMED':
      return { at, kind: 'changed', text: `Renamed from ${about.from} to ${about.to}` };
    case 'TOOLS_CHANGED':
      return { at, kind: 'tools', text: 'Definitions changed' };
    case 'TOOLS_WITHHELD':
      return { at, kind: 'tools', text: 'Changed definitions wait for approval' };
    case 'TOOLS_APPROVED':
      return { at, kind: 'tools', text: 'Definitions were approved' };
    case 'TOOLS_REJECTED':
      return { at, kind: 'tools', text: 'Definitions were rejected' };
    default:
      return undefined;
  }
}
