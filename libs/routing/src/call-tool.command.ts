import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { personOf } from '@app/access';
import { CallActivity } from '@app/activity';
import { Catalogue, type CatalogueServer, type CatalogueTool, ToolWithheld } from '@app/catalogue';
import { Learning } from '@app/learning';
import { ConnectionLost, CredentialsRefused, RequestTimedOut } from '@app/mcp-client';
import {
  AppError,
  changed,
  Env,
  type JsonObject,
  type RawJsonObject,
  timed,
  Variables,
} from '@app/platform';
import { fillArguments, type Offer } from '@app/policy';
import {
  type CallerSession,
  CallerSessions,
  PersonSessions,
  ServerUnavailable,
  SessionPool,
} from '@app/sessions';
import { CallAudit } from './call-audit.js';
import { CallMetrics } from './call.metrics.js';
import { CallSlots } from './call-slots.js';
import { type ForwardContext, requestOnBehalf } from './forward.js';
import { resolveRoute, type Route } from './route.js';
import {
  CallInterrupted,
  CallTimedOut,
  naming,
  outcomeOf,
  RoutingFailed,
} from './routing.errors.js';
import { SessionWait } from './session-wait.js';

export interface ToolAnswer {
  /** The result of the server, unchanged; `isError: true` is an answer too (contract R28). */
  readonly result: RawJsonObject;
  readonly route: Route;
  readonly routingMs: number;
  readonly executionMs: number;
  readonly totalMs: number;
}

/** Calls one tool, by route or by any of its names. `params` are those of `tools/call`; the name is replaced. */
export class CallTool extends Command<ToolAnswer> {
  constructor(
    readonly tool: Route | string,
    readonly params: JsonObject,
    readonly caller: ForwardContext,
    readonly serverId?: string,
    /** What the name is looked up in; everything by default. */
    readonly offer?: Pick<Offer, 'catalogue'>,
  ) {
    super();
  }
}

@CommandHandler(CallTool)
export class CallToolHandler implements ICommandHandler<CallTool> {
  constructor(
    private readonly catalogue: Catalogue,
    private readonly sessions: SessionPool,
    private readonly people: PersonSessions,
    private readonly callers: CallerSessions,
    private readonly slots: CallSlots,
    private readonly metrics: CallMetrics,
    private readonly audit: CallAudit,
    private readonly activity: CallActivity,
    private readonly learning: Learning,
    private readonly env: Env,
    private readonly variables: Variables,
  ) {}

  async execute({ tool, params, caller, serverId, offer }: CallTool): Promise<ToolAnswer> {
    const startedAt = performance.now();
    const route = typeof tool === 'string' ? this.routeTo(tool, serverId, offer) : tool;
    const routingMs = performance.now() - startedAt;
    this.metrics.routing.observe(routingMs / 1_000);
    const { actor } = caller;
    const shown = this.activity.begin(route, caller);
    try {
      const deadline = startedAt + this.env.MCP_AGGREGATOR_REQUEST_TIMEOUT * 1_000;
      const filled = fillArguments(route.tool, params, actor.name, this.variables);
      const own = named(route.tool.originalName, filled);
      const { result, executionMs } = await this.call(route, own, caller, deadline);
      const totalMs = performance.now() - startedAt;
      const isError = result.get('isError') === true;
      const { span } = caller;
      const ended = { route, actor, milliseconds: totalMs, isError, failure: undefined, span };
      this.audit.note(ended);
      this.activity.end(ended, shown, shown && result.bytes.length);
      if (!isError) this.noteUse(route, caller);
      return { result, route, routingMs, executionMs, totalMs };
    } catch (thrown) {
      const milliseconds = performance.now() - startedAt;
      const error = await this.explained(thrown, route, caller);
      const failure = error instanceof AppError ? error.code : 'INTERNAL_ERROR';
      const { span } = caller;
      const ended = { route, actor, milliseconds, isError: false, failure, span };
      this.audit.note(ended);
      this.activity.end(ended, shown);
      throw error;
    }
  }

  private noteUse({ tool }: Route, { actor, client, searchId }: ForwardContext): void {
    this.learning.noteCall({ caller: actor, toolId: tool.id, session: client, searchId });
  }

  /**
   * Repeats a call after a lost connection if the server cannot have executed it, or if repeating is safe
   * (contract R16).
   */
  private async call(
    route: Route,
    params: JsonObject,
    caller: ForwardContext,
    deadline: number,
  ): Promise<Sent> {
    const { server } = route;
    const { subject } = personOf(caller.actor);
    const slot =
      this.slots.take(server.id, subject) ??
      (await timed(caller.span, 'wait for a slot', () =>
        this.slots.wait(server, subject, deadline - performance.now(), caller.signal),
      ));
    const wait = new SessionWait();
    try {
      return await this.request(route, params, caller, deadline, wait);
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error;
      if (error.executed === 'unknown' && !mayRepeat(route)) throw error;
      wait.spend(error.waitedMs);
      return await this.repeat(error, route, params, caller, deadline, wait);
    } finally {
      this.slots.release(server.id, slot);
    }
  }

  /** If the second attempt could not be sent, the unknown outcome of the first is reported (contract R46). */
  private async repeat(
    first: ConnectionLost,
    route: Route,
    params: JsonObject,
    caller: ForwardContext,
    deadline: number,
    wait: SessionWait,
  ): Promise<Sent> {
    try {
      return await this.request(route, params, caller, deadline, wait);
    } catch (error) {
      const wasNotSent =
        error instanceof CredentialsRefused ||
        (error instanceof RequestTimedOut && error.executed === 'no') ||
        (error instanceof AppError && error.kind === 'unavailable');
      throw wasNotSent && first.executed === 'unknown' ? first : error;
    }
  }

  private async request(
    { tool, server }: Route,
    params: JsonObject,
    caller: ForwardContext,
    deadline: number,
    wait: SessionWait,
  ): Promise<Sent> {
    // It may have been withheld while the call waited for its turn.
    const withheld = this.catalogue.current.withheld.toolsById.get(tool.id);
    if (withheld) throw new ToolWithheld(withheld);
    // Without a promise where the session is open, as for nearly every call.
    const taken = this.open(server) ?? (await this.taken(server, caller, deadline, wait));
    const { session, generation } = taken;
    const sentAt = performance.now();
    const timeoutMs = deadline - sentAt;
    if (timeoutMs <= 0) {
      const allowedMs = this.env.MCP_AGGREGATOR_REQUEST_TIMEOUT * 1_000;
      throw new RequestTimedOut('tools/call', allowedMs, 'no');
    }
    try {
      const result = await requestOnBehalf(
        session,
        'tools/call',
        params,
        caller,
        timeoutMs,
        wait.leftMs,
        this.schemaAtServer(tool),
        server.name,
      );
      return { result, executionMs: performance.now() - sentAt };
    } catch (error) {
      throw generation === undefined
        ? error
        : await this.people.explained(taken.server, personOf(caller.actor), generation, error);
    } finally {
      this.metrics.execution.observe({ server: server.name }, (performance.now() - sentAt) / 1_000);
    }
  }

  /** The shared session, where the server has no sessions of single people. */
  private open(server: CatalogueServer): CallerSession<CatalogueServer> | undefined {
    const now = this.latest(server);
    const session = this.callers.open(now);
    return session && { session, server: now };
  }

  private taken(
    server: CatalogueServer,
    { actor, span }: ForwardContext,
    deadline: number,
    wait: SessionWait,
  ): Promise<CallerSession<CatalogueServer>> {
    return this.callers.take(
      () => this.latest(server),
      personOf(actor),
      (attempt) =>
        timed(span, 'wait for a session', () =>
          wait.during(attempt(wait.within(deadline - performance.now()))),
        ),
    );
  }

  /** An error that ends the session is told after its status is written, and names it (contract R39 and R46). */
  private async explained(
    error: unknown,
    { tool, server }: Route,
    { signal }: ForwardContext,
  ): Promise<unknown> {
    if (error instanceof RequestTimedOut) return new CallTimedOut(tool, server, error);
    const isLost = error instanceof ConnectionLost;
    const isWithoutSession = error instanceof ServerUnavailable;
    if (!isLost && !isWithoutSession && !(error instanceof CredentialsRefused)) {
      // A wait that is cancelled ends with the reason of its signal.
      const isExpected = error instanceof AppError || signal.aborted;
      return isExpected ? naming(server, error, tool) : new RoutingFailed(error);
    }
    await this.sessions.statusWritten(server.id);
    const now = this.catalogue.current.servers.get(server.id) ?? server;
    if (isLost) return new CallInterrupted(tool, now, error);
    return isWithoutSession
      ? new ServerUnavailable(now, error.cause, outcomeOf(tool, 'no'))
      : naming(now, error, tool);
  }

  private routeTo(name: string, serverId: string | undefined, offer: CallTool['offer']): Route {
    const { current } = this.catalogue;
    return resolveRoute(offer ? offer.catalogue(current) : current, name, serverId);
  }

  /** With the arguments that a view hides. */
  private schemaAtServer({ id, inputSchema, offeredAs }: CatalogueTool): JsonObject {
    if (!offeredAs) return inputSchema;
    return this.catalogue.current.toolsById.get(id)?.inputSchema ?? inputSchema;
  }

  /** A call may have waited since its route was found; a server disconnected since must not be connected for it. */
  private latest(server: CatalogueServer): CatalogueServer {
    const now = this.catalogue.current.servers.get(server.id);
    if (!now) throw new ServerUnavailable(server);
    return now;
  }
}

interface Sent {
  readonly result: RawJsonObject;
  readonly executionMs: number;
}

/** The parameters with another name, with a fast path for the usual shape of `name` and `arguments` only. */
function named(name: string, params: JsonObject): JsonObject {
  const { arguments: args } = params;
  for (const key of Object.keys(params)) {
    if (key !== 'name' && key !== 'arguments') return changed(params, { name });
  }
  // JSON serialisation drops undefined members.
  return { name, arguments: args } as JsonObject;
}

/** The server declares the tool read-only or idempotent. */
function mayRepeat({ tool }: Route): boolean {
  const annotations = tool.definition['annotations'];
  if (typeof annotations !== 'object' || annotations === null || Array.isArray(annotations)) {
    return false;
  }
  return annotations['readOnlyHint'] === true || annotations['idempotentHint'] === true;
}
