import type { OnModuleInit } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { z } from 'zod';
import { Clock, inSlices, type JsonObject, type Sliced } from '@app/platform';
import { PeerQuestions } from '../cluster/peer-questions.js';
import { CallDayStore, ofServers, type StoredDay } from './call-day.store.js';
import { type CallDay, CallDays } from './call-days.js';
import { CallHistory, type CallKey, type CallPointsOf } from './call-history.js';
import type { CallPoint } from './call-points.js';
import { CallSums } from './call-sums.js';
import { packLatency } from './latency.js';

export const statsWindows = ['10m', '24h', '30d'] as const;
export type StatsWindow = (typeof statsWindows)[number];
export const statsGroups = ['server', 'tool'] as const;
export type StatsGroup = (typeof statsGroups)[number];

const DAY_S = 86_400;
const lengthS: Readonly<Record<StatsWindow, number>> = {
  '10m': 600,
  '24h': DAY_S,
  '30d': 30 * DAY_S,
};
/** Steps that a window may be shown in, of which the first is that of its points. */
const stepsS: Readonly<Record<StatsWindow, readonly number[]>> = {
  '10m': [1, 2, 5, 10, 20, 30, 60, 120, 300],
  '24h': [60, 120, 300, 600, 1_200, 3_600, 7_200, 14_400],
  '30d': [DAY_S],
};
/** Bound the answer: about 32 bytes for a point and 300 for a series. */
const MAX_POINTS = 4_000;
const MAX_SERIES = 200;
/** Of one replica. */
const MAX_SENT_SERIES = 2_000;

const QUESTION = 'call-stats';
const question = z.strictObject({
  window: z.enum(statsWindows),
  by: z.enum(statsGroups).optional(),
  serverId: z.string().optional(),
  tool: z.string().optional(),
});
type Question = z.infer<typeof question>;

const pointRow = z.tuple([z.int(), z.int(), z.int(), z.string()]);
const seriesRows = z
  .array(
    z.strictObject({
      serverId: z.string().nullable(),
      tool: z.string().nullable(),
      points: z.array(pointRow).max(30_000),
    }),
  )
  .max(MAX_SENT_SERIES);

export interface StatsSeries extends CallKey {
  readonly sums: CallSums;
}

export interface CallStatsAnswer {
  readonly stepSeconds: number;
  /** Seconds since the epoch. */
  readonly from: number;
  readonly to: number;
  /** Since when this process counts in memory. */
  readonly since: Date;
  /** By calls, most first. */
  readonly series: readonly StatsSeries[];
  /** Series beyond the limit. */
  readonly leftOut: number;
  /** Replicas that did not answer. */
  readonly missing: number;
}

interface StoredSeries {
  readonly series: readonly CallPointsOf[];
  /** Tools that were called less than those. */
  readonly leftOut: number;
}

const NOTHING_STORED: StoredSeries = { series: [], leftOut: 0 };

/** Calls of all replicas within a window: in all, by server, or by tool. */
export class CallStats extends Query<CallStatsAnswer> {
  constructor(readonly asked: Question) {
    super();
  }
}

/**
 * What this process counted, what the others answer, and for days the rows. A replica that is gone has taken its
 * minutes with it, but not its days.
 */
@QueryHandler(CallStats)
export class CallStatsHandler implements IQueryHandler<CallStats>, OnModuleInit {
  constructor(
    private readonly history: CallHistory,
    private readonly days: CallDays,
    private readonly rows: CallDayStore,
    private readonly peers: PeerQuestions,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.peers.answerWith(QUESTION, (asked) => this.ownSeries(question.parse(asked)).map(written));
  }

  async execute({ asked }: CallStats): Promise<CallStatsAnswer> {
    const { window } = asked;
    const to = Math.floor(this.clock.now().getTime() / 1_000);
    const [stored, { answers, missing }] = await Promise.all([
      window === '30d' ? this.storedSeries(asked, to) : NOTHING_STORED,
      this.peers.ask(QUESTION, questionTo(asked)),
    ]);
    const parsed = answers.map((answer) => seriesRows.safeParse(answer));
    const others = parsed.flatMap(({ data = [] }) => data.map(read));
    const unreadable = parsed.filter(({ success }) => !success).length;
    const all = [...this.ownSeries(asked), ...stored.series, ...others];
    const groups = new Set(all.map(keyOf)).size;
    const stepSeconds = stepFor(window, Math.min(groups, MAX_SERIES));
    const from = to - (to % stepSeconds) - lengthS[window] + stepSeconds;
    const sums = await inSlices(adding(all, from, stepSeconds));
    const most = Math.min(MAX_SERIES, Math.floor(MAX_POINTS / (lengthS[window] / stepSeconds)));
    const sorted = sums.toSorted(byCalls);
    return {
      stepSeconds,
      from,
      to,
      since: this.history.since,
      series: sorted.slice(0, most),
      leftOut: Math.max(0, sorted.length - most) + stored.leftOut,
      missing: missing + unreadable,
    };
  }

  /** What only this process knows. */
  private ownSeries({ window, by, serverId, tool }: Question): readonly CallPointsOf[] {
    if (window === '30d') return this.waitingDays({ window, by, serverId, tool });
    if (by === 'tool' || tool !== undefined) {
      return mostCalled(this.history.pointsOfTools(window, serverId, tool));
    }
    if (by === 'server' || serverId !== undefined) {
      return this.history.pointsOfServers(window, serverId);
    }
    return [this.history.pointsOfAll(window)];
  }

  private waitingDays({ by, serverId, tool }: Question): readonly CallPointsOf[] {
    const waiting = this.days.waiting.filter(
      (day) =>
        (serverId === undefined || day.serverId === serverId) &&
        (tool === undefined || day.tool === tool),
    );
    if (by === 'tool' || tool !== undefined) {
      return mostCalled(waiting.map((day) => pointsOf(day)));
    }
    return ofServers(waiting).map((day) => pointsOf({ ...day, tool: null }, by, serverId));
  }

  private async storedSeries(asked: Question, to: number): Promise<StoredSeries> {
    const { by, serverId, tool } = asked;
    const filter = { fromDay: Math.floor(to / DAY_S) - 29, serverId };
    if (by === 'tool' || tool !== undefined) {
      const { days, tools } = await this.rows.ofTools(filter, tool, MAX_SERIES);
      const leftOut = Math.max(0, tools - MAX_SERIES);
      return { series: days.map((day) => pointsOf(day)), leftOut };
    }
    const days = await this.rows.ofServers(filter);
    return { series: days.map((day) => pointsOf(day, by, serverId)), leftOut: 0 };
  }
}

/** As many as one replica sends. */
function mostCalled(all: readonly CallPointsOf[]): readonly CallPointsOf[] {
  if (all.length <= MAX_SENT_SERIES) return all;
  const calls = new Map(
    all.map((one) => [one, one.points.reduce((sum, point) => sum + point.calls, 0)]),
  );
  return all
    .toSorted((one, other) => (calls.get(other) ?? 0) - (calls.get(one) ?? 0))
    .slice(0, MAX_SENT_SERIES);
}

/** The shortest step with which all series fit. */
function stepFor(window: StatsWindow, series: number): number {
  const fits = stepsS[window].find((step) => (lengthS[window] / step) * series <= MAX_POINTS);
  return fits ?? stepsS[window].at(-1) ?? DAY_S;
}

function* adding(all: readonly CallPointsOf[], from: number, stepS: number): Sliced<StatsSeries[]> {
  const found = new Map<string, StatsSeries>();
  for (const one of all) {
    const key = keyOf(one);
    let series = found.get(key);
    if (!series) {
      const { serverId, tool } = one;
      found.set(key, (series = { serverId, tool, sums: new CallSums(from, stepS) }));
    }
    for (const [index, point] of one.points.entries()) {
      series.sums.add(point);
      if (index % 50 === 0) yield;
    }
  }
  return [...found.values()].filter(({ sums }) => sums.calls > 0);
}

function questionTo({ window, by, serverId, tool }: Question): JsonObject {
  return {
    window,
    ...(by && { by }),
    ...(serverId !== undefined && { serverId }),
    ...(tool !== undefined && { tool }),
  };
}

function keyOf({ serverId, tool }: CallKey): string {
  return `${serverId ?? ''} ${tool ?? ''}`;
}

function byCalls(one: StatsSeries, other: StatsSeries): number {
  return other.sums.calls - one.sums.calls || (keyOf(one) < keyOf(other) ? -1 : 1);
}

/** A day as a point; without a group of all servers together. */
function pointsOf(day: CallDay | StoredDay, by?: StatsGroup, serverId?: string): CallPointsOf {
  const { calls, errors, latency, tool } = day;
  const point = { at: day.day * DAY_S, calls, errors, latency: packLatency(latency) };
  const isOfServer = tool !== null || by === 'server' || serverId !== undefined;
  return { serverId: isOfServer ? day.serverId : null, tool, points: [point] };
}

function written({ serverId, tool, points }: CallPointsOf) {
  return { serverId, tool, points: points.map(rowOf) };
}

function rowOf({ at, calls, errors, latency }: CallPoint): [number, number, number, string] {
  return [at, calls, errors, latency];
}

function read({ serverId, tool, points }: z.infer<typeof seriesRows>[number]): CallPointsOf {
  return {
    serverId,
    tool,
    points: points.map(([at, calls, errors, latency]) => ({ at, calls, errors, latency })),
  };
}
