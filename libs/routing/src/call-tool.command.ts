import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Actor } from '@app/access';
import { Catalogue } from '@app/discovery';
import { ConnectionLost, RequestTimedOut } from '@app/mcp';
import { AppError, Env, type JsonObject, type JsonValue, type WrittenObject } from '@app/platform';
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

/** Calls one tool: one that was found, or by any of its names. `params` are those of `tools/call`; their name is replaced. */
export class CallTool extends Command<ToolAnswer> {
  constructor(
    readonly tool: Route | string,
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

  async execute({ tool, params, caller, serverId }: CallTool): Promise<ToolAnswer> {
    const startedAt = performance.now();
    const route =
      typeof tool === 'string' ? resolveRoute(this.catalogue.current, tool, serverId) : tool;
    const routingMs = performance.now() - startedAt;
    this.metrics.routing.observe(routingMs / 1_000);
    const { actor } = caller;
    try {
      const deadline = startedAt + this.env.MCP_AGGREGATOR_REQUEST_TIMEOUT * 1_000;
      const own = named(route.tool.originalName, params);
      const { result, executionMs } = await this.inTurn(route, own, caller, deadline);
      const totalMs = performance.now() - startedAt;
      const isError = result.get('isError') === true;
      this.audit.note({ route, actor, milliseconds: totalMs, isError, failure: undefined });
      return { result, route, routingMs, executionMs, totalMs };
    } catch (thrown) {
      const error = thrown instanceof ConnectionLost ? interrupted(route, thrown) : thrown;
      const failure = error instanceof AppError ? error.code : 'INTERNAL_ERROR';
      const milliseconds = performance.now() - startedAt;
      this.audit.note({ route, actor, milliseconds, isError: false, failure });
      throw error;
    }
  }

  /** A call that the server cannot have executed, or may execute twice, is sent a second time (RULINGS R16). */
  private async inTurn(
    route: Route,
    params: JsonObject,
    caller: ToolCaller,
    deadline: number,
  ): Promise<Sent> {
    const { server } = route;
    if (!this.slots.take(server.id)) {
      await this.slots.wait(server, deadline - performance.now(), caller.signal);
    }
    try {
      return await this.send(route, params, caller, deadline);
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error;
      if (error.executed === 'unknown' && !mayRepeat(route)) throw error;
      return await this.send(route, params, caller, deadline);
    } finally {
      this.slots.release(server.id);
    }
  }

  private async send(
    { server }: Route,
    params: JsonObject,
    caller: ToolCaller,
    deadline: number,
  ): Promise<Sent> {
    const session =
      this.sessions.get(server.id) ??
      (await this.sessions.acquire(
        server,
        Math.min(RECONNECT_WITHIN_MS, deadline - performance.now()),
      ));
    const sentAt = performance.now();
    const timeoutMs = deadline - sentAt;
    if (timeoutMs <= 0) {
      throw new RequestTimedOut('tools/call', this.env.MCP_AGGREGATOR_REQUEST_TIMEOUT * 1_000);
    }
    try {
      const result = await forward(session, 'tools/call', params, caller, timeoutMs);
      return { result, executionMs: performance.now() - sentAt };
    } finally {
      this.metrics.execution.observe({ server: server.name }, (performance.now() - sentAt) / 1_000);
    }
  }
}

interface Sent {
  readonly result: WrittenObject;
  readonly executionMs: number;
}

/** The same parameters for another name, in the shape that nearly all have. */
function named(name: string, params: JsonObject): JsonObject {
  const { arguments: args } = params;
  // Written as JSON, what is undefined is not there.
  const own = { name, arguments: args } as JsonObject;
  for (const key of Object.keys(params)) own[key] ??= params[key] as JsonValue;
  return own;
}

function interrupted({ tool, server }: Route, cause: ConnectionLost): CallInterrupted {
  return new CallInterrupted(tool, server, cause);
}

/** A server's own word that calling twice does no more than calling once. */
function mayRepeat({ tool }: Route): boolean {
  const annotations = tool.definition['annotations'];
  if (typeof annotations !== 'object' || annotations === null || Array.isArray(annotations)) {
    return false;
  }
  return annotations['readOnlyHint'] === true || annotations['idempotentHint'] === true;
}
