import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Catalogue, type CatalogueServer, type CatalogueSnapshot } from '@app/catalogue';
import { personOf } from '@app/access';
import type { Caller, ClientCall } from '@app/mcp-server';
import { rpcCode, RpcError, type RpcResult } from '@app/mcp-protocol';
import type { UpstreamSession } from '@app/mcp-client';
import {
  AppError,
  Env,
  type JsonObject,
  type JsonValue,
  RawJsonObject,
  timed,
} from '@app/platform';
import { ResultBudget } from '@app/results';
import {
  CallTool,
  naming,
  requestOnBehalf,
  resolveRoute,
  type Route,
  SESSION_WITHIN_MS,
  SessionWait,
} from '@app/routing';
import { type CallerSession, CallerSessions, PersonSessions, SessionPool } from '@app/sessions';
import { AskToConnect } from './ask-to-connect.js';
import { ClientConversation } from './forward-context.js';
import { ServerNotifications } from '../notify/server-notifications.js';
import { toolFailure } from './tool-failure.js';

/** The revision that introduced resource links; earlier clients refuse a result with one. */
const FIRST_WITH_LINKS = '2025-06-18';

type Taken = Omit<CallerSession<CatalogueServer>, 'server'>;

interface CallOptions {
  /** Of the only server whose tools are meant. */
  readonly serverId?: string | undefined;
  /** The budget of the result, if it is not that of the tool or of the deployment. */
  readonly budgetTokens?: number | undefined;
  /** Of the search that found the tool, if `_meta` does not name it. */
  readonly searchId?: string | undefined;
}

export function isList(method: string): boolean {
  return method.endsWith('/list');
}

/** Forwards requests of clients to servers. */
@Injectable()
export class RequestForwarder {
  constructor(
    private readonly commands: CommandBus,
    private readonly catalogue: Catalogue,
    private readonly sessions: SessionPool,
    private readonly people: PersonSessions,
    private readonly callers: CallerSessions,
    private readonly notifications: ServerNotifications,
    private readonly connecting: AskToConnect,
    private readonly budget: ResultBudget,
    private readonly env: Env,
  ) {}

  /** `catalogue`: what is offered to the client. */
  async call(
    catalogue: CatalogueSnapshot,
    params: JsonObject,
    call: ClientCall,
    { serverId, budgetTokens, searchId }: CallOptions,
  ): Promise<RpcResult> {
    const { name } = params;
    if (typeof name !== 'string') {
      throw new RpcError(rpcCode.invalidParams, 'name must be a string');
    }
    const route = this.routeTo(catalogue, name, call, serverId);
    const { id } = route.server;
    const caller = this.conversation(id, call, params, searchId);
    try {
      const command = new CallTool(route, params, caller);
      const { result } = await (route.server.credentials === 'shared'
        ? this.commands.execute(command)
        : this.connecting.during(call, route.server, () => this.commands.execute(command)));
      return await this.withinBudget(
        result,
        call,
        route.tool.definition['outputSchema'],
        route.tool.offeredAs?.budgetTokens ?? budgetTokens,
      );
    } catch (error) {
      this.notifications.noteFailure(id, error, call.client);
      return toolFailure(error, call.span);
    }
  }

  /** Throws with the reason for a caller that may know why the tool is not offered to it. */
  routeTo(catalogue: CatalogueSnapshot, name: string, call: ClientCall, serverId?: string): Route {
    try {
      return resolveRoute(catalogue, name, serverId);
    } catch (error) {
      const { explainAbsence } = call.client.caller;
      throw explainAbsence ? explainAbsence(error, name) : error;
    }
  }

  /** Calls a tool that is not in the catalogue. */
  async callUnlisted(
    server: CatalogueServer,
    params: JsonObject,
    call: ClientCall,
    budgetTokens?: number,
  ): Promise<RpcResult> {
    const result = await this.request(server, 'tools/call', params, call);
    return result instanceof RawJsonObject
      ? this.withinBudget(result, call, undefined, budgetTokens)
      : result;
  }

  inputSchemaOf(
    catalogue: CatalogueSnapshot,
    tool: string,
    serverId?: string,
  ): JsonObject | undefined {
    try {
      return resolveRoute(catalogue, tool, serverId).tool.inputSchema;
    } catch (error) {
      // The call reports the problem with the name.
      if (error instanceof AppError) return undefined;
      throw error;
    }
  }

  request(
    server: CatalogueServer,
    method: string,
    params: JsonObject,
    call: ClientCall,
  ): Promise<RpcResult> {
    const send = (): Promise<RpcResult> => this.send(server, method, params, call);
    return server.credentials === 'shared' ? send() : this.connecting.during(call, server, send);
  }

  private async send(
    server: CatalogueServer,
    method: string,
    params: JsonObject,
    call: ClientCall,
  ): Promise<RpcResult> {
    const wait = new SessionWait();
    const { session, generation } = await this.takenFor(server, method, call, wait);
    try {
      const conversation = this.conversation(server.id, call, params);
      const { leftMs } = wait;
      return await requestOnBehalf(
        session,
        method,
        params,
        conversation,
        this.timeoutMs,
        leftMs,
        undefined,
        server.name,
      );
    } catch (error) {
      this.notifications.noteFailure(server.id, error, call.client);
      if (generation === undefined) throw naming(server, error);
      const person = personOf(call.client.caller);
      throw naming(server, await this.people.explained(server, person, generation, error));
    }
  }

  private async takenFor(
    server: CatalogueServer,
    method: string,
    call: ClientCall,
    wait: SessionWait,
  ): Promise<Taken> {
    // Lists are the same for everyone, as the catalogue is.
    const isForAll = isList(method);
    const live = isForAll ? this.sessions.get(server.id) : this.callers.open(this.latest(server));
    if (live) return { session: live };
    return timed(call.span, 'wait for a session', () =>
      wait.during(
        isForAll
          ? this.session(server).then((session) => ({ session }))
          : this.turnFor(server, call.client.caller),
      ),
    );
  }

  /** Whether people use it with credentials of their own, by what is known now. */
  isPersonal(server: CatalogueServer): boolean {
    return this.latest(server).credentials !== 'shared';
  }

  /** The session that requests of a caller go through: their own where the server is called with their credentials. */
  async sessionFor(server: CatalogueServer, caller: Caller): Promise<UpstreamSession> {
    return (await this.turnFor(server, caller)).session;
  }

  private turnFor(server: CatalogueServer, caller: Caller): Promise<Taken> {
    return this.callers.take(
      () => this.latest(server),
      personOf(caller),
      (attempt) => attempt(SESSION_WITHIN_MS),
    );
  }

  /** A surface may hold an old snapshot of a server. */
  private latest(server: CatalogueServer): CatalogueServer {
    return this.catalogue.current.servers.get(server.id) ?? server;
  }

  /** The shared session: for what concerns no person, such as how the server describes itself. */
  async session(server: CatalogueServer): Promise<UpstreamSession> {
    const now = this.latest(server);
    return this.sessions.get(now.id) ?? this.sessions.acquire(now, SESSION_WITHIN_MS);
  }

  /** The session in which resources are subscribed to: updates go to everyone who asked for them. */
  subscribable(server: CatalogueServer): Promise<UpstreamSession> {
    if (!this.isPersonal(server)) return this.session(server);
    const message = `Resources of ${server.name} cannot be subscribed to: it is used with credentials of each person`;
    return Promise.reject(new RpcError(rpcCode.invalidRequest, message));
  }

  private withinBudget(
    result: RawJsonObject,
    { client }: ClientCall,
    outputSchema: JsonValue | undefined,
    budgetTokens: number | undefined,
  ): RpcResult | Promise<RpcResult> {
    const takesLinks = client.version === undefined || client.version >= FIRST_WITH_LINKS;
    const owner = client.caller.subject;
    return this.budget.within(
      result,
      { owner, outputSchema, reader: 'mcp', takesLinks },
      budgetTokens,
    );
  }

  private conversation(
    serverId: string,
    call: ClientCall,
    params: JsonObject,
    searchId?: string,
  ): ClientConversation {
    return new ClientConversation(
      call,
      params,
      (...question) => this.notifications.ask(serverId, call, call.client, ...question),
      searchId,
    );
  }

  get timeoutMs(): number {
    return this.env.MCP_AGGREGATOR_REQUEST_TIMEOUT * 1_000;
  }
}
