import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { type Actor, type AuditEntry, AuditLosses, AuditStore, personOf } from '@app/access';
import type { CatalogueTool } from '@app/catalogue';
import { canonicalName } from '@app/mcp-protocol';
import { DatabaseUnavailable, type Span } from '@app/platform';
import type { Route } from './route.js';

const FLUSH_EVERY_MS = 1_000;
/** Distinct calls per interval; further ones are counted in one entry per caller. */
const MAX_KINDS = 10_000;
/** The share of these for one caller. */
const MAX_KINDS_OF_ONE = 1_000;
/** Entries held while the database does not answer; further ones are dropped and counted. */
const MAX_HELD = 20_000;

export interface FinishedCall {
  readonly route: Route;
  readonly actor: Actor;
  readonly milliseconds: number;
  /** The `error_code` of a call without an answer; `isError` answers are recorded separately. */
  readonly failure?: string | undefined;
  readonly isError: boolean;
  readonly span?: Span | undefined;
}

interface Tally {
  readonly call: FinishedCall;
  calls: number;
  milliseconds: number;
  /** Of the first call of which a trace is recorded. */
  traceId: string | undefined;
}

/** The calls of one caller in an interval. */
interface Share {
  readonly actor: Actor;
  kinds: number;
  /** Calls over the limit of distinct entries. */
  others: number;
}

/**
 * Audit of tool calls: caller, tool and outcome; never arguments or results. Written outside the call path: equal
 * calls of one caller within an interval are one row with a count.
 */
@Injectable()
export class CallAudit implements BeforeApplicationShutdown {
  /** By tool; each list holds the few combinations of caller and outcome in an interval. */
  private tallies = new Map<CatalogueTool, Tally[]>();
  private shares = new Map<string, Share>();
  private kinds = 0;
  /** Entries that could not be written yet. */
  private held: AuditEntry[] = [];
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> | undefined;

  constructor(
    private readonly audit: AuditStore,
    private readonly losses: AuditLosses,
  ) {}

  note(call: FinishedCall): void {
    const { tool } = call.route;
    let ofTool = this.tallies.get(tool);
    if (!ofTool) this.tallies.set(tool, (ofTool = []));
    const tally = ofTool.find((known) => isAlike(known.call, call));
    if (tally) {
      tally.calls += 1;
      tally.milliseconds += call.milliseconds;
      tally.traceId ??= call.span?.trace.recordedId;
    } else {
      const share = this.shareOf(call.actor);
      if (this.kinds < MAX_KINDS && share.kinds < MAX_KINDS_OF_ONE) {
        this.kinds += 1;
        share.kinds += 1;
        const { milliseconds, span } = call;
        ofTool.push({ call, calls: 1, milliseconds, traceId: span?.trace.recordedId });
      } else {
        share.others += 1;
      }
    }
    this.flushSoon();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearTimeout(this.timer);
    await this.writing;
    await this.flush();
    if (this.held.length > 0) this.losses.say(this.held.length, new Error('the service stops'));
  }

  private flushSoon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      // Calls noted during the last write are aggregated for the next one.
      this.writing ??= this.flush().finally(() => {
        this.writing = undefined;
        if (this.tallies.size > 0 || this.held.length > 0) this.flushSoon();
      });
    }, FLUSH_EVERY_MS).unref();
  }

  private async flush(): Promise<void> {
    const entries = [...this.held, ...this.takeTallies()];
    if (entries.length > MAX_HELD) {
      this.losses.say(entries.length - MAX_HELD, new Error('too many wait for the database'));
      entries.splice(0, entries.length - MAX_HELD);
    }
    this.held = [];
    if (entries.length === 0) return;
    try {
      await this.audit.recordAll(entries);
    } catch (error) {
      if (isWorthRepeating(error)) this.held = entries;
      else this.losses.say(entries.length, error);
    }
  }

  private takeTallies(): AuditEntry[] {
    const entries = [...this.tallies.values()].flat().map(entryOf);
    for (const { actor, others } of this.shares.values()) {
      if (others > 0) {
        entries.push({
          event: 'tool.called',
          actor,
          details: { tool: '(many others)', calls: others },
        });
      }
    }
    this.tallies = new Map();
    this.shares = new Map();
    this.kinds = 0;
    return entries;
  }

  private shareOf(actor: Actor): Share {
    const { subject } = personOf(actor);
    let share = this.shares.get(subject);
    if (!share) this.shares.set(subject, (share = { actor, kinds: 0, others: 0 }));
    return share;
  }
}

/** True if the write certainly did not happen. */
function isWorthRepeating(error: unknown): boolean {
  return error instanceof DatabaseUnavailable && error.context?.['outcome'] !== 'unknown';
}

function isAlike(a: FinishedCall, b: FinishedCall): boolean {
  return (
    a.failure === b.failure &&
    a.isError === b.isError &&
    a.actor.name === b.actor.name &&
    a.actor.subject === b.actor.subject &&
    a.actor.ip === b.actor.ip
  );
}

function entryOf({ call, calls, milliseconds, traceId }: Tally): AuditEntry {
  const { server, tool } = call.route;
  return {
    event: 'tool.called',
    actor: call.actor,
    outcome: call.failure === undefined ? 'success' : 'failure',
    server: { id: server.id, name: server.name },
    details: {
      // A view may offer it under another name.
      tool: tool.offeredAs ? canonicalName(tool.serverName, tool.originalName) : tool.name,
      calls,
      mean_ms: Math.round((milliseconds / calls) * 10) / 10,
      ...(call.isError && { is_error: true }),
      ...(call.failure !== undefined && { error_code: call.failure }),
      ...(traceId !== undefined && { trace_id: traceId }),
    },
  };
}
