import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import type { Actor } from '@app/access';
import type { CatalogueServer, CatalogueTool } from '@app/catalogue';
import { canonicalName } from '@app/mcp-protocol';
import type { JsonObject } from '@app/platform';
import { ActivityFeed } from '../feed/activity-feed.js';
import { CallHistory } from '../stats/call-history.js';

/** Each has an event at its start and one at its end: 200 events a second. */
const SHOWN_A_SECOND = 100;
const SECOND_MS = 1_000;

/** How a call came in. */
export interface CallOrigin {
  readonly entry: 'mcp' | 'rest' | 'query';
  /** The slug of the view that it was made in. */
  readonly view: string | null;
}

/** The tool and its server. */
interface CalledTool {
  readonly server: Pick<CatalogueServer, 'id' | 'name'>;
  readonly tool: Pick<CatalogueTool, 'originalName'>;
}

interface CallContext {
  readonly actor: Pick<Actor, 'name'>;
  readonly origin?: CallOrigin | undefined;
}

export interface EndedCall {
  readonly route: CalledTool;
  readonly actor: Pick<Actor, 'name'>;
  readonly milliseconds: number;
  /** The `error_code` of a call without an answer. */
  readonly failure?: string | undefined;
  readonly isError: boolean;
}

/** A call whose start was told. */
export interface ShownCall {
  readonly id: string;
  readonly about: JsonObject;
}

/**
 * Counts every call, and tells of some while a client listens: under load of each n-th one, with the true rate beside
 * them. Arguments and results are never told.
 */
@Injectable()
export class CallActivity implements OnModuleInit, OnModuleDestroy {
  private isHeard = false;
  private started = 0;
  private shown = 0;
  /** Every n-th call is shown. */
  private stride = 1;
  private lastId = 0;
  private before = { calls: 0, errors: 0 };
  private timer: NodeJS.Timeout | undefined;
  private stopHearing: (() => void) | undefined;

  constructor(
    private readonly feed: ActivityFeed,
    private readonly history: CallHistory,
  ) {}

  onModuleInit(): void {
    this.stopHearing = this.feed.onTopics(() => this.followListeners());
  }

  onModuleDestroy(): void {
    this.stopHearing?.();
    clearInterval(this.timer);
  }

  /** Undefined while no client listens, which is all that this costs then. */
  begin(route: CalledTool, context: CallContext): ShownCall | undefined {
    return this.isHeard ? this.show(route, context) : undefined;
  }

  /** `bytes`: of the result. */
  end(ended: EndedCall, call: ShownCall | undefined, bytes?: number): void {
    const { route, actor, milliseconds, failure, isError } = ended;
    const { server, tool } = route;
    const hasFailed = isError || failure !== undefined;
    const { id: serverId } = server;
    const counted = { serverId, tool: tool.originalName, milliseconds, isError: hasFailed };
    this.history.add(counted);
    if (!call) return;
    const data = {
      phase: 'end',
      call_id: call.id,
      ...call.about,
      duration_ms: Math.round(milliseconds * 10) / 10,
      outcome: failure !== undefined ? 'failure' : isError ? 'tool_error' : 'success',
      error_code: failure ?? null,
      ...(bytes !== undefined && { bytes }),
    };
    void this.feed.tell({ topic: 'call', data, serverIds: [serverId], caller: actor.name });
  }

  private show(
    { server, tool }: CalledTool,
    { actor, origin }: CallContext,
  ): ShownCall | undefined {
    this.started += 1;
    if (this.started % this.stride !== 0 || this.shown >= SHOWN_A_SECOND) return undefined;
    this.shown += 1;
    const id = `${this.feed.replica}-c${++this.lastId}`;
    const about = {
      tool: canonicalName(server.name, tool.originalName),
      server_id: server.id,
      server: server.name,
      view: origin?.view ?? null,
      entry: origin?.entry ?? 'rest',
    };
    const data = { phase: 'start', call_id: id, ...about };
    void this.feed.tell({ topic: 'call', data, serverIds: [server.id], caller: actor.name });
    return { id, about };
  }

  private followListeners(): void {
    const isHeard = this.feed.isHeard('call');
    if (isHeard === this.isHeard) return;
    this.isHeard = isHeard;
    clearInterval(this.timer);
    this.before = this.history.counts;
    if (isHeard) this.timer = setInterval(() => this.tellRate(), SECOND_MS).unref();
  }

  /** Of the last second, from which the next one is sampled. */
  private tellRate(): void {
    const { calls, errors } = this.history.counts;
    const data = {
      replica: this.feed.replica,
      calls: calls - this.before.calls,
      errors: errors - this.before.errors,
      shown: this.shown,
    };
    this.before = { calls, errors };
    this.stride = Math.max(1, Math.ceil(this.started / SHOWN_A_SECOND));
    this.started = 0;
    this.shown = 0;
    void this.feed.tell({ topic: 'call', data, summary: 'rate' });
  }
}
