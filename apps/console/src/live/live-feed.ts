import { useCallback, useEffect, useRef, useState } from 'react';
import { type LiveEvent, useLiveEvents } from './live-channel.js';

/** What a call looks like in the feed; its end replaces its start. */
export interface CallLine {
  readonly kind: 'call';
  readonly id: string;
  readonly at: string;
  readonly tool: string;
  readonly server: string;
  readonly caller: string | undefined;
  readonly view: string | null;
  readonly entry: string;
  readonly isRunning: boolean;
  readonly durationMs: number | undefined;
  readonly outcome: string | undefined;
  readonly errorCode: string | undefined;
  readonly bytes: number | undefined;
}

/** Anything else that happened. */
export interface NewsLine {
  readonly kind: 'news';
  readonly id: string;
  readonly at: string;
  readonly topic: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export type FeedLine = CallLine | NewsLine;

/** Calls of all replicas within the last second, and how many of them have lines of their own. */
export interface CallRate {
  readonly calls: number;
  readonly errors: number;
  readonly shown: number;
}

interface Feed {
  readonly lines: readonly FeedLine[];
  readonly rate: CallRate | undefined;
  readonly isPaused: boolean;
  /** Lines that arrived while the feed is paused. */
  readonly waiting: number;
  readonly togglePause: () => void;
}

const text = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;
const number = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : undefined;

function lineOf({ id, at, topic, data }: LiveEvent): FeedLine {
  if (topic !== 'call') return { kind: 'news', id, at, topic, data };
  return {
    kind: 'call',
    id: text(data['call_id']) ?? id,
    at,
    tool: text(data['tool']) ?? '',
    server: text(data['server']) ?? '',
    caller: text(data['caller']),
    view: text(data['view']) ?? null,
    entry: text(data['entry']) ?? '',
    isRunning: data['phase'] === 'start',
    durationMs: number(data['duration_ms']),
    outcome: text(data['outcome']),
    errorCode: text(data['error_code']),
    bytes: number(data['bytes']),
  };
}

/** Newest first. The end of a call takes the place of its start, so that a line does not move when it ends. */
function withLine(lines: readonly FeedLine[], line: FeedLine, most: number): readonly FeedLine[] {
  const started = line.kind === 'call' ? lines.findIndex(({ id }) => id === line.id) : -1;
  if (started < 0) return [line, ...lines].slice(0, most);
  return lines.with(started, line);
}

/** At most as often as a person can follow; between two drawings lines are collected. */
const DRAW_MS = 100;

/** Rates by replica, of the last seconds only: a replica that left says nothing more. */
function summed(rates: ReadonlyMap<string, CallRate & { readonly at: number }>): CallRate {
  const fresh = [...rates.values()].filter(({ at }) => performance.now() - at < 3_000);
  const sum = (key: 'calls' | 'errors' | 'shown'): number =>
    fresh.reduce((total, rate) => total + rate[key], 0);
  return { calls: sum('calls'), errors: sum('errors'), shown: sum('shown') };
}

/** The newest events, up to `most`; `isWanted` leaves others out. */
export function useLiveFeed(most: number, isWanted: (event: LiveEvent) => boolean): Feed {
  const [lines, setLines] = useState<readonly FeedLine[]>([]);
  const [rate, setRate] = useState<CallRate>();
  const [isPaused, setPaused] = useState(false);
  const [waiting, setWaiting] = useState(0);
  const collected = useRef<readonly FeedLine[]>([]);
  const rates = useRef(new Map<string, CallRate & { readonly at: number }>());
  const timer = useRef<number>(undefined);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  useLiveEvents((event) => {
    const { topic, data } = event;
    if (topic === 'rate') {
      const read = (key: string): number => number(data[key]) ?? 0;
      rates.current.set(text(data['replica']) ?? '', {
        calls: read('calls'),
        errors: read('errors'),
        shown: read('shown'),
        at: performance.now(),
      });
      setRate(summed(rates.current));
      return;
    }
    if (!isWanted(event)) return;
    collected.current = withLine(collected.current, lineOf(event), most);
    if (isPaused) {
      setWaiting((before) => before + 1);
      return;
    }
    timer.current ??= window.setTimeout(() => {
      timer.current = undefined;
      setLines(collected.current);
    }, DRAW_MS);
  });
  const togglePause = useCallback(() => {
    setPaused((before) => !before);
    setLines(collected.current);
    setWaiting(0);
  }, []);
  return { lines, rate, isPaused, waiting, togglePause };
}
