import { Injectable } from '@nestjs/common';
import { type Latency, newLatency } from './latency.js';

const DAY_S = 86_400;
/** Not stored yet; further tools are not counted by day. 600 bytes each. */
const MAX_PENDING = 20_000;

/** An ended call. */
export interface CountedCall {
  readonly serverId: string;
  /** Its name at the server. */
  readonly tool: string;
  readonly milliseconds: number;
  readonly isError: boolean;
}

/** The calls of one tool on one day (UTC). */
export interface CallDay {
  /** Days since the epoch. */
  readonly day: number;
  readonly serverId: string;
  readonly tool: string;
  calls: number;
  errors: number;
  readonly latency: Latency;
}

/** Calls by day that are not in the rows yet: one entry for each tool and day, because a statement changes a row once. */
@Injectable()
export class CallDays {
  /** Of the current day, by server and tool. */
  private pending = new Map<string, Map<string, CallDay>>();
  private day = 0;
  private earlier = new Map<string, CallDay>();
  private size = 0;

  add({ serverId, tool, isError }: CountedCall, second: number, bucket: number): void {
    const day = Math.floor(second / DAY_S);
    if (day !== this.day) this.turn(day);
    let tools = this.pending.get(serverId);
    if (!tools) this.pending.set(serverId, (tools = new Map()));
    let counted = tools.get(tool);
    if (!counted) {
      if (this.size >= MAX_PENDING) return;
      this.size += 1;
      counted = { day, serverId, tool, calls: 0, errors: 0, latency: newLatency() };
      tools.set(tool, counted);
    }
    counted.calls += 1;
    if (isError) counted.errors += 1;
    counted.latency[bucket] = (counted.latency[bucket] ?? 0) + 1;
  }

  /** What is not in the rows yet. */
  get waiting(): readonly CallDay[] {
    return [
      ...this.earlier.values(),
      ...[...this.pending.values()].flatMap((tools) => [...tools.values()]),
    ];
  }

  /** To be stored; `putBack` if that fails. */
  take(): readonly CallDay[] {
    const taken = this.waiting;
    this.pending = new Map();
    this.earlier = new Map();
    this.size = 0;
    return taken;
  }

  /** Added to what was counted since. */
  putBack(days: readonly CallDay[]): void {
    for (const day of days) {
      const [place, key] = this.placeOf(day);
      const counted = place.get(key);
      if (counted) addTo(counted, day);
      else if (this.size < MAX_PENDING) {
        this.size += 1;
        place.set(key, day);
      }
    }
  }

  forgetServer(serverId: string): void {
    this.size -= this.pending.get(serverId)?.size ?? 0;
    this.pending.delete(serverId);
    for (const [key, day] of this.earlier) {
      if (day.serverId === serverId && this.earlier.delete(key)) this.size -= 1;
    }
  }

  private placeOf({ day, serverId, tool }: CallDay): [Map<string, CallDay>, string] {
    if (day !== this.day) return [this.earlier, `${day} ${serverId} ${tool}`];
    let tools = this.pending.get(serverId);
    if (!tools) this.pending.set(serverId, (tools = new Map()));
    return [tools, tool];
  }

  /** Also back, when the clock is corrected. */
  private turn(day: number): void {
    const counted = this.take();
    this.day = day;
    this.putBack(counted);
  }
}

function addTo(sum: CallDay, { calls, errors, latency }: CallDay): void {
  sum.calls += calls;
  sum.errors += errors;
  for (const [bucket, count] of latency.entries()) {
    sum.latency[bucket] = (sum.latency[bucket] ?? 0) + count;
  }
}
