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

/** Calls by day that are not in the rows yet. */
@Injectable()
export class CallDays {
  private pending = new Map<string, Map<string, CallDay>>();
  private day = 0;
  private earlier: CallDay[] = [];
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
    return [...this.earlier, ...[...this.pending.values()].flatMap((tools) => [...tools.values()])];
  }

  /** To be stored; `putBack` if that fails. */
  take(): readonly CallDay[] {
    const taken = this.waiting;
    this.pending = new Map();
    this.earlier = [];
    this.size = 0;
    return taken;
  }

  putBack(days: readonly CallDay[]): void {
    const room = Math.max(0, MAX_PENDING - this.size);
    this.earlier.push(...days.slice(0, room));
    this.size += Math.min(room, days.length);
  }

  private turn(day: number): void {
    this.earlier = [...this.waiting];
    this.pending = new Map();
    this.day = day;
  }
}
