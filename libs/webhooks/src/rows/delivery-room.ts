import type { StateTopic } from '@app/activity';
import { MAX_WAITING } from '../webhook.js';

/** The lane of sessions: each client makes as many of these events as it likes. */
export const SESSIONS: StateTopic = 'session';
const MAX_SESSIONS = MAX_WAITING / 2;
/** Counting reads all that waits, so it is done only after this many events, or this long. */
const COUNT_AFTER = 1_000;
const COUNT_AFTER_MS = 30_000;
/** When there is less room than that. */
const COUNT_FULL_AFTER_MS = 5_000;

interface Room {
  left: number;
  sessions: number;
  /** `left` is all that there is. */
  readonly isFull: boolean;
  readonly until: number;
}

export interface Waiting {
  readonly waiting: number;
  /** Of these. */
  readonly sessions: number;
}

/**
 * How many events each webhook still takes. Sessions fill half of it, so that clients that connect again and again push
 * out no other event. Each replica counts by itself: together they may exceed the limit by COUNT_AFTER each.
 */
export class DeliveryRoom {
  private readonly rooms = new Map<string, Room>();

  /** Whether it is known if there is room for so many more. */
  isKnown(webhookId: string, events: number, nowMs: number): boolean {
    const room = this.rooms.get(webhookId);
    return room !== undefined && nowMs < room.until && (room.left >= events || room.isFull);
  }

  set(webhookId: string, { waiting, sessions }: Waiting, nowMs: number): void {
    for (const [id, { until }] of this.rooms) if (until <= nowMs) this.rooms.delete(id);
    const left = Math.min(COUNT_AFTER, MAX_WAITING - waiting);
    const isFull = left < COUNT_AFTER;
    const until = nowMs + (isFull ? COUNT_FULL_AFTER_MS : COUNT_AFTER_MS);
    this.rooms.set(webhookId, { left, sessions: MAX_SESSIONS - sessions, isFull, until });
  }

  /** Whether there is a place for an event of this lane, which is then taken. */
  take(webhookId: string, lane: string): boolean {
    const room = this.rooms.get(webhookId);
    if (!room || room.left <= 0) return false;
    if (lane === SESSIONS && room.sessions-- <= 0) return false;
    room.left -= 1;
    return true;
  }
}
