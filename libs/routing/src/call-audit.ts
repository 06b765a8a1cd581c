import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { type Actor, type AuditEntry, AuditStore } from '@app/access';
import type { CatalogueTool } from '@app/discovery';
import type { Route } from './route.js';

const FLUSH_EVERY_MS = 1_000;
/** With more different calls than this in one interval the rest is only counted. */
const MAX_KINDS = 10_000;

export interface FinishedCall {
  readonly route: Route;
  readonly actor: Actor;
  readonly milliseconds: number;
  /** The `error_code` of a call that got no answer; `isError` answers are marked apart. */
  readonly failure?: string | undefined;
  readonly isError: boolean;
}

interface Tally {
  readonly call: FinishedCall;
  calls: number;
  milliseconds: number;
}

/**
 * Who called which tool, and how it ended; never arguments or results. Written off the path of the
 * calls: calls of one caller to one tool that ended alike within an interval are one row with their number.
 */
@Injectable()
export class CallAudit implements BeforeApplicationShutdown {
  private readonly logger = new Logger(CallAudit.name);
  /** By tool, and then the few ways in which calls of one second differ. */
  private tallies = new Map<CatalogueTool, Tally[]>();
  private kinds = 0;
  private uncounted = 0;
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();

  constructor(private readonly audit: AuditStore) {}

  note(call: FinishedCall): void {
    const { tool } = call.route;
    let ofTool = this.tallies.get(tool);
    if (!ofTool) this.tallies.set(tool, (ofTool = []));
    const tally = ofTool.find((known) => isAlike(known.call, call));
    if (tally) {
      tally.calls += 1;
      tally.milliseconds += call.milliseconds;
    } else if (this.kinds < MAX_KINDS) {
      this.kinds += 1;
      ofTool.push({ call, calls: 1, milliseconds: call.milliseconds });
    } else {
      this.uncounted += 1;
    }
    this.timer ??= setTimeout(() => this.flush(), FLUSH_EVERY_MS).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.flush();
    await this.writing;
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.tallies.size === 0) return;
    const entries = [...this.tallies.values()].flat().map(entryOf);
    if (this.uncounted > 0) {
      this.logger.warn(
        `${this.uncounted} calls are missing in the audit log: too many different ones`,
      );
    }
    this.tallies = new Map();
    this.kinds = 0;
    this.uncounted = 0;
    this.writing = this.writing
      .then(() => this.audit.recordAll(entries))
      .catch((error: unknown) => {
        this.logger.error({ err: error, rows: entries.length }, 'audit rows of calls are lost');
      });
  }
}

function isAlike(a: FinishedCall, b: FinishedCall): boolean {
  return (
    a.failure === b.failure &&
    a.isError === b.isError &&
    a.actor.name === b.actor.name &&
    a.actor.ip === b.actor.ip
  );
}

function entryOf({ call, calls, milliseconds }: Tally): AuditEntry {
  const { server, tool } = call.route;
  return {
    event: 'tool.called',
    actor: call.actor,
    outcome: call.failure === undefined ? 'success' : 'failure',
    server: { id: server.id, name: server.name },
    details: {
      tool: tool.name,
      calls,
      mean_ms: Math.round((milliseconds / calls) * 10) / 10,
      ...(call.isError && { is_error: true }),
      ...(call.failure !== undefined && { error_code: call.failure }),
    },
  };
}
