import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, Matches } from 'class-validator';
import type { Server } from '@app/registry';
import {
  type HealthEventKind,
  healthEventKinds,
  type HealthHistory,
  type HealthInterval,
  MAX_INTERVALS,
} from './health-history.js';
import { type ProbeLatency, latencyOf, type Probe } from './probe-history.js';

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
/** Flags in an answer; older ones are counted. */
const MAX_EVENTS = 50;
/** Points of the latency curve. */
const MAX_POINTS = 288;

export class HealthHistoryQuery {
  @ApiPropertyOptional({
    default: '24h',
    example: '24h',
    description: 'Minutes, hours or days, up to 30d.',
  })
  @IsOptional()
  @Matches(/^(?:[1-9]\d{0,3}m|[1-9]\d{0,2}h|(?:[1-9]|[12]\d|30)d)$/, {
    message: 'Must be minutes, hours or days, such as 90m, 24h or 7d, up to 30d',
  })
  readonly window: string = '24h';
}

export function windowMs(window: string): number {
  const unit = window.endsWith('m') ? UNITS.m : window.endsWith('h') ? UNITS.h : UNITS.d;
  return Math.min(Number.parseInt(window, 10) * unit, 30 * UNITS.d);
}

export class LatencyView {
  @ApiProperty({ example: 2_880, description: 'Health checks.' })
  readonly checks!: number;
  @ApiProperty({ example: 3, description: 'Health checks that failed.' })
  readonly failures!: number;
  @ApiProperty({ type: Number, nullable: true, example: 12.5 })
  readonly p50_ms!: number | null;
  @ApiProperty({ type: Number, nullable: true, example: 41.2 })
  readonly p95_ms!: number | null;
  @ApiProperty({ type: Number, nullable: true, example: 310 })
  readonly max_ms!: number | null;
}

export class HealthIntervalView {
  @ApiProperty({ example: 'ERROR' })
  readonly state!: string;
  @ApiProperty({ format: 'date-time' })
  readonly from!: string;
  @ApiProperty({ format: 'date-time' })
  readonly to!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    example: 'Connection refused (ECONNREFUSED)',
    description: 'Why it is not connected.',
  })
  readonly reason!: string | null;
  @ApiProperty({ description: 'It waits until a person logs in.' })
  readonly needs_login!: boolean;
  @ApiProperty({ example: 4, description: 'Attempts to connect that failed meanwhile.' })
  readonly attempts!: number;
  @ApiProperty({ example: 0, description: 'Shorter intervals that are part of it.' })
  readonly merged!: number;
  @ApiProperty({
    type: LatencyView,
    nullable: true,
    description:
      'Of the health checks in it. Null where none is known: only those of the last 24 hours are kept, and only until the service stops.',
  })
  readonly latency!: LatencyView | null;
}

export class HealthEventView {
  @ApiProperty({ example: 1, description: 'From 1, the oldest of the window.' })
  readonly number!: number;
  @ApiProperty({ format: 'date-time' })
  readonly at!: string;
  @ApiProperty({ enum: healthEventKinds })
  readonly kind!: HealthEventKind;
  @ApiProperty({ example: 'Connection refused (ECONNREFUSED)' })
  readonly text!: string;
}

export class LatencyPointView {
  @ApiProperty({ format: 'date-time', description: 'Where this part of the window begins.' })
  readonly at!: string;
  @ApiProperty({ type: Number, nullable: true, example: 12.5 })
  readonly p50_ms!: number | null;
  @ApiProperty({ type: Number, nullable: true, example: 41.2 })
  readonly max_ms!: number | null;
  @ApiProperty({ example: 0 })
  readonly failures!: number;
}

export class HealthHistoryView {
  @ApiProperty({ format: 'uuid' })
  readonly server_id!: string;
  @ApiProperty({ example: 'github-mcp' })
  readonly name!: string;
  @ApiProperty({ format: 'date-time' })
  readonly from!: string;
  @ApiProperty({ format: 'date-time' })
  readonly to!: string;
  @ApiProperty({
    type: Number,
    nullable: true,
    minimum: 0,
    maximum: 1,
    example: 0.951,
    description:
      'Part of the time in which it was CONNECTED, without the time in which it was disconnected by request.',
  })
  readonly ready_share!: number | null;
  @ApiProperty({
    type: [HealthIntervalView],
    description: `Oldest first, without gaps; at most ${MAX_INTERVALS}.`,
  })
  readonly intervals!: readonly HealthIntervalView[];
  @ApiProperty({ type: [HealthEventView], description: `The newest ${MAX_EVENTS}, oldest first.` })
  readonly events!: readonly HealthEventView[];
  @ApiProperty({ example: 4 })
  readonly events_total!: number;
  @ApiProperty({ type: [LatencyPointView], description: 'Of the health checks, oldest first.' })
  readonly latency!: readonly LatencyPointView[];
}

export function toHealthHistoryView(
  server: Pick<Server, 'id' | 'name'>,
  { from, to }: { readonly from: number; readonly to: number },
  { intervals, events }: HealthHistory,
  probes: readonly Probe[],
): HealthHistoryView {
  const numbered = events.map(({ at, kind, text }, i) => ({
    number: i + 1,
    at: time(at),
    kind,
    text,
  }));
  return {
    server_id: server.id,
    name: server.name,
    from: time(from),
    to: time(to),
    ready_share: readyShare(intervals),
    intervals: intervals.map((interval) => toIntervalView(interval, probes)),
    events: numbered.slice(-MAX_EVENTS),
    events_total: events.length,
    latency: pointsOf(probes, from, to),
  };
}

function toIntervalView(interval: HealthInterval, probes: readonly Probe[]): HealthIntervalView {
  const { state, from, to, reason, needsLogin, attempts, merged } = interval;
  const latency = latencyOf(probes.filter(({ at }) => at >= from && at < to));
  return {
    state,
    from: time(from),
    to: time(to),
    reason,
    needs_login: needsLogin,
    attempts,
    merged,
    latency: latency && toLatencyView(latency),
  };
}

function toLatencyView({ checks, failures, p50, p95, max }: ProbeLatency): LatencyView {
  return { checks, failures, p50_ms: rounded(p50), p95_ms: rounded(p95), max_ms: rounded(max) };
}

function pointsOf(probes: readonly Probe[], from: number, to: number): LatencyPointView[] {
  const partMs = (to - from) / MAX_POINTS;
  const parts = new Map<number, Probe[]>();
  for (const probe of probes) {
    const part = Math.min(MAX_POINTS - 1, Math.floor((probe.at - from) / partMs));
    const ofPart = parts.get(part);
    if (ofPart) ofPart.push(probe);
    else parts.set(part, [probe]);
  }
  return [...parts].flatMap(([part, ofPart]) => {
    const latency = latencyOf(ofPart);
    if (!latency) return [];
    const { p50, max, failures } = latency;
    const at = time(from + part * partMs);
    return [{ at, p50_ms: rounded(p50), max_ms: rounded(max), failures }];
  });
}

function readyShare(intervals: readonly HealthInterval[]): number | null {
  let wanted = 0;
  let ready = 0;
  for (const { state, from, to } of intervals) {
    if (state !== 'DISCONNECTED' && state !== 'DISCONNECTING') wanted += to - from;
    if (state === 'CONNECTED') ready += to - from;
  }
  return wanted === 0 ? null : Math.round((ready / wanted) * 10_000) / 10_000;
}

function rounded(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 10) / 10;
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}
