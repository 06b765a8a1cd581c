import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Actor } from '@app/access';
import { Catalogue } from '@app/discovery';
import { ConnectionLost, RequestTimedOut } from '@app/mcp';
import { AppError, Env, type JsonObject } from '@app/platform';
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
  readonly result: JsonObject;
  readonly route: Route;
  readonly routingMs: number;
  readonly executionMs: number;
  readonly totalMs: number;
}

/** Calls one tool, by any of its names. `params` are those of `tools/call` but for the name. */
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
    try {
      const { result, executionMs } = await this.inSlot(route, deadline, caller.signal, () =>
        this.send(route, params, caller, deadline),
      );
      const totalMs = performance.now() - startedAt;
      this.note(route, caller, totalMs, { isError: result['isError'] === true });
      return { result, route, routingMs, executionMs, totalMs };
    } catch (error) {
      const failure = error instanceof AppError ? error.code : 'INTERNAL_ERROR';
      this.note(route, caller, performance.now() - startedAt, { isError: false, failure });
      throw error;
    }
  }

  private async inSlot<T>(
    { server }: Route,
    deadline: number,
    signal: AbortSignal,
    work: () => Promise<T>,
  ): Promise<T> {
    if (!this.slots.take(server.id)) {
      await this.slots.wait(server, deadline - performance.now(), signal);
    }
    try {
      return await work();
    } finally {
      this.slots.release(server.id);
    }
  }

  /** A call that the server cannot have executed, or may execute twice, is sent a second time (RULINGS R16). */
  private async send(
    route: Route,
    params: JsonObject,
    caller: ToolCaller,
    deadline: number,
  ): Promise<{ result: JsonObject; executionMs: number }> {
    try {
      return await this.sendOnce(route, params, caller, deadline);
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error;
      if (error.executed === 'unknown' && !mayRepeat(route))
        throw new CallInterrupted(route.tool, route.server, error);
    }
    try {
      return await this.sendOnce(route, params, caller, deadline);
    } catch (error) {
      throw error instanceof ConnectionLost
        ? new CallInterrupted(route.tool, route.server, error)
        : error;
    }
  }

  private async sendOnce(
    { tool, server }: Route,
    params: JsonObject,
    caller: ToolCaller,
    deadline: number,
  ): Promise<{ result: JsonObject; executionMs: number }> {
    const session =
      this.sessions.get(server.id) ??
      (await this.sessions.acquire(
        server,
        Math.min(RECONNECT_WITHIN_MS, deadline - performance.now()),
      ));
    const sentAt = performance.now();
    const timeoutMs = deadline - sentAt;
    if (timeoutMs <= 0)
      throw new RequestTimedOut('tools/call', this.env.MCP_AGGREGATOR_REQUEST_TIMEOUT * 1_000);
    try {
      const own = { ...params, name: tool.originalName };
      const result = await forward(session, 'tools/call', own, caller, timeoutMs);
      return { result, executionMs: performance.now() - sentAt };
    } finally {
      this.metrics.execution.observe({ server: server.name }, (performance.now() - sentAt) / 1_000);
    }
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

/** A server's own word that calling twice does no more than calling once. */
function mayRepeat({ tool }: Route): boolean {
  const annotations = tool.definition['annotations'];
  if (typeof annotations !== 'object' || annotations === null || Array.isArray(annotations)) {
    return false;
  }
  return annotations['readOnlyHint'] === true || annotations['idempotentHint'] === true;
}
