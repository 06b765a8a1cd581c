import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Clock } from '@app/platform';
import { CallDays, type CountedCall } from './call-days.js';
import { type CallPoint, CallPoints, type PointBudget } from './call-points.js';
import { bucketOf } from './latency.js';

const TEN_MINUTES_S = 600;
const DAY_S = 86_400;
/** About 100 bytes each: 30 MB in all, filled by 58 servers that are called each second and 125 tools each minute. */
const MAX_SERVER_POINTS = 120_000;
const MAX_TOOL_POINTS = 180_000;
/** A tool costs 500 bytes beside its points. */
const MAX_TOOLS = 20_000;
const TRIM_EVERY_MS = 60_000;

/** What calls are counted by: all of them, one server, or one tool. */
export interface CallKey {
  readonly serverId: string | null;
  readonly tool: string | null;
}

export interface CallPointsOf extends CallKey {
  readonly points: readonly CallPoint[];
}

/** The calls of a server, or of all. */
class SteppedCalls {
  readonly seconds: CallPoints;
  readonly minutes: CallPoints;

  constructor(budget: PointBudget) {
    this.seconds = new CallPoints(1, TEN_MINUTES_S, budget);
    this.minutes = new CallPoints(60, DAY_S, budget);
  }

  add(second: number, bucket: number, isError: boolean): void {
    this.seconds.add(second, bucket, isError);
    this.minutes.add(second, bucket, isError);
  }

  trim(second: number): boolean {
    const parts = [this.seconds.trim(second), this.minutes.trim(second)];
    return parts.every(Boolean);
  }
}

/**
 * The calls of this process: all, and by server, each second of ten minutes and each minute of a day; by tool each
 * minute of a day. Lost with the process, unlike the days, which are rows.
 */
@Injectable()
export class CallHistory {
  readonly since: Date;
  private readonly serverBudget: PointBudget = { used: 0, max: MAX_SERVER_POINTS };
  private readonly toolBudget: PointBudget = { used: 0, max: MAX_TOOL_POINTS };
  private readonly total = new SteppedCalls(this.serverBudget);
  private readonly servers = new Map<string, SteppedCalls>();
  private readonly tools = new Map<string, Map<string, CallPoints>>();
  private toolCount = 0;
  /** Of the wall clock; read once a minute, because it costs more than counting a call. */
  private epochMs: number;
  private counted = 0;
  private failed = 0;

  constructor(
    private readonly clock: Clock,
    private readonly days: CallDays,
  ) {
    this.since = clock.now();
    this.epochMs = this.since.getTime() - clock.monotonic();
  }

  /** Calls, and failed ones, since the process started. */
  get counts(): { readonly calls: number; readonly errors: number } {
    return { calls: this.counted, errors: this.failed };
  }

  /** In seconds since the epoch. */
  get now(): number {
    return Math.floor((this.epochMs + this.clock.monotonic()) / 1_000);
  }

  /** On the path of every call: three counters. */
  add(call: CountedCall): void {
    const second = this.now;
    const bucket = bucketOf(call.milliseconds);
    const { serverId, tool, isError } = call;
    this.counted += 1;
    if (isError) this.failed += 1;
    this.total.add(second, bucket, isError);
    let server = this.servers.get(serverId);
    if (!server) this.servers.set(serverId, (server = new SteppedCalls(this.serverBudget)));
    server.add(second, bucket, isError);
    this.toolOf(serverId, tool)?.add(second, bucket, isError);
    this.days.add(call, second, bucket);
  }

  /** Of the last ten minutes by the second, or of the last day by the minute. */
  pointsOfAll(window: '10m' | '24h'): CallPointsOf {
    return { serverId: null, tool: null, points: this.read(this.total, window) };
  }

  pointsOfServers(window: '10m' | '24h', serverId?: string): readonly CallPointsOf[] {
    return [...this.servers]
      .filter(([id]) => serverId === undefined || id === serverId)
      .map(([id, calls]) => ({ serverId: id, tool: null, points: this.read(calls, window) }));
  }

  /** By the minute for either window. */
  pointsOfTools(window: '10m' | '24h', serverId?: string, tool?: string): readonly CallPointsOf[] {
    const since = this.now - (window === '10m' ? TEN_MINUTES_S : DAY_S);
    return [...this.tools]
      .filter(([id]) => serverId === undefined || id === serverId)
      .flatMap(([id, tools]) =>
        [...tools]
          .filter(([name]) => tool === undefined || name === tool)
          .map(([name, minutes]) => ({ serverId: id, tool: name, points: minutes.since(since) })),
      );
  }

  forgetServer(serverId: string): void {
    const server = this.servers.get(serverId);
    server?.seconds.clear();
    server?.minutes.clear();
    this.servers.delete(serverId);
    const tools = this.tools.get(serverId);
    for (const minutes of tools?.values() ?? []) minutes.clear();
    this.toolCount -= tools?.size ?? 0;
    this.tools.delete(serverId);
  }

  @Interval(TRIM_EVERY_MS)
  trim(): void {
    this.epochMs = this.clock.now().getTime() - this.clock.monotonic();
    const second = this.now;
    this.total.trim(second);
    for (const [id, server] of this.servers) if (server.trim(second)) this.servers.delete(id);
    for (const [id, tools] of this.tools) {
      for (const [name, minutes] of tools) {
        if (minutes.trim(second) && tools.delete(name)) this.toolCount -= 1;
      }
      if (tools.size === 0) this.tools.delete(id);
    }
  }

  private read(calls: SteppedCalls, window: '10m' | '24h'): readonly CallPoint[] {
    return window === '10m'
      ? calls.seconds.since(this.now - TEN_MINUTES_S)
      : calls.minutes.since(this.now - DAY_S);
  }

  /** Undefined beyond the limit: such a tool has only its days. */
  private toolOf(serverId: string, tool: string): CallPoints | undefined {
    let tools = this.tools.get(serverId);
    if (!tools) this.tools.set(serverId, (tools = new Map()));
    let minutes = tools.get(tool);
    if (!minutes && this.toolCount < MAX_TOOLS) {
      minutes = new CallPoints(60, DAY_S, this.toolBudget);
      tools.set(tool, minutes);
      this.toolCount += 1;
    }
    return minutes;
  }
}
