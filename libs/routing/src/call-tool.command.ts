import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Actor } from '@app/access';
import { Catalogue } from '@app/discovery';
import { ConnectionLost, RequestTimedOut, type UpstreamSession } from '@app/mcp';
import { AppError, Env, type JsonObject, type WrittenObject } from '@app/platform';
import { SessionPool } from '@app/sessions';
import { CallAudit } from './call-audit.js';
import { CallMetrics } from './call.metrics.js';
import { CallSlots } from './call-slots.js';
import { type Conversation, forward } from './forward.js';
import { resolveRoute, type Route } from './route.js';
import { CallInterrupted } from './routing.errors.js';

/** How long a call waits for a server that has to be reached again first (RULINGS R15). */
export const RECONNECT_WITHIN_MS = 5_000;

export interface ToolCaller extends Conversation {
  readonly actor: Actor;
}

export interface ToolAnswer {
  /** The server's result, unchanged; `isError: true` is an answer too (RULINGS R28). */
  readonly result: WrittenObject;
  readonly route: Route;
  readonly routingMs: number;
  readonly executionMs: number;
  readonly totalMs: number;
}

/** Calls one tool, by any of its names. `params` are those of `tools/call`; their name is replaced. */
export class CallTool extends Command<ToolAnswer> {
  constructor(
    readonly name: string,
    readonly params: JsonObject,
    readonly caller: ToolCaller,
    readonly serverId?: string,
  ) {
    super();
  }
}

@CommandHandler(CallTool)
export class CallToolHandler implements ICommandHandler<CallTool> {
  constructor(
    private readonly catalogue: Catalogue,
    private readonly sessions: SessionPool,
    private readonly slots: CallSlots,
    private readonly metrics: CallMetrics,
    private readonly audit: CallAudit,
    private readonly env: Env,
  ) {}

  async execute({ name, params, caller, serverId }: CallTool): Promise<ToolAnswer> {
    const startedAt = performance.now();
    const route = resolveRoute(this.catalogue.current, name, serverId);
    const routingMs = performance.now() - startedAt;
    this.metrics.routing.observe(routingMs / 1_000);
    const deadline = startedAt + this.env.MCP_AGGREGATOR_REQUEST_TIMEOUT * 1_000;
    const own = { ...params, name: route.tool.originalName };
    let sentAt = 0;
    try {
      const { id } = route.server;
      if (!this.slots.take(id)) {
        await this.slots.wait(route.server, deadline - performance.now(), caller.signal);
      }
      let result: WrittenObject;
      try {
        const session = this.sessions.get(id) ?? (await this.acquire(route, deadline));
        sentAt = performance.now();
        try {
          result = await this.send(session, own, caller, deadline - sentAt);
        } catch (error) {
          if (!mayBeSentAgain(route, error)) throw error;
          this.observe(route, sentAt);
          const again = this.sessions.get(id) ?? (await this.acquire(route, deadline));
          sentAt = performance.now();
          result = await this.send(again, own, caller, deadline - sentAt);
        }
      } finally {
        this.slots.release(id);
      }
      const endedAt = performance.now();
      this.note(route, caller, endedAt - startedAt, { isError: result.get('isError') === true });
      const executionMs = this.observe(route, sentAt, endedAt);
      return { result, route, routingMs, executionMs, totalMs: endedAt - startedAt };
    } catch (thrown) {
      if (sentAt > 0) this.observe(route, sentAt);
      const error =
        thrown instanceof ConnectionLost
          ? new CallInterrupted(route.tool, route.server, thrown)
          : thrown;
      const failure = error instanceof AppError ? error.code : 'INTERNAL_ERROR';
      this.note(route, caller, performance.now() - startedAt, { isError: false, failure });
      throw error;
    }
  }

  private acquire({ server }: Route, deadline: number): Promise<UpstreamSession> {
    return this.sessions.acquire(
      server,
      Math.min(RECONNECT_WITHIN_MS, deadline - performance.now()),
    );
  }

  private send(
    session: UpstreamSession,
    params: JsonObject,
    caller: ToolCaller,
    timeoutMs: number,
  ): Promise<WrittenObject> {
    if (timeoutMs <= 0) {
      throw new RequestTimedOut('tools/call', this.env.MCP_AGGREGATOR_REQUEST_TIMEOUT * 1_000);
    }
    return forward(session, 'tools/call', params, caller, timeoutMs);
  }

  private observe({ server }: Route, sentAt: number, endedAt = performance.now()): number {
    this.metrics.execution.observe({ server: server.name }, (endedAt - sentAt) / 1_000);
    return endedAt - sentAt;
  }

  private note(
    route: Route,
    { actor }: ToolCaller,
    milliseconds: number,
    outcome: { readonly isError: boolean; readonly failure?: string },
  ): void {
    this.audit.note({ route, actor, milliseconds, ...outcome });
  }
}

/** A call that the server cannot have executed, or may execute twice, is sent a second time (RULINGS R16). */
function mayBeSentAgain(route: Route, error: unknown): boolean {
  return error instanceof ConnectionLost && (error.executed === 'no' || mayRepeat(route));
}

/** A server's own word that calling twice does no more than calling once. */
function mayRepeat({ tool }: Route): boolean {
  const annotations = tool.definition['annotations'];
  if (typeof annotations !== 'object' || annotations === null || Array.isArray(annotations)) {
    return false;
  }
  return annotations['readOnlyHint'] === true || annotations['idempotentHint'] === true;
}
