import type { CatalogueServer } from '@app/catalogue';
import { RpcError, rpcCode, type RpcResult, UpstreamRpcError, viaMeta } from '@app/mcp-protocol';
import type { UpstreamSession } from '@app/mcp-client';
import type {
  Caller,
  ClientCall,
  McpSurface,
  ServerChange,
  ServerDescription,
} from '@app/mcp-server';
import { AppError, type CancelSignal, changed, isJsonObject, type JsonObject } from '@app/platform';
import { type CallSlots, requestOnBehalf } from '@app/routing';
import {
  callerIn,
  failureData,
  NotHere,
  ofServer,
  refuseAsTold,
  type StdioPlace,
  WITHOUT_CALLER,
} from '@app/sessions';
import { ClientConversation } from '../forward/forward-context.js';
import { isList, type RequestForwarder } from '../forward/request-forwarder.js';
import type { ResourceSubscriptions } from '../notify/resource-subscriptions.js';
import type { ServerNotifications } from '../notify/server-notifications.js';
import type { PassedCalls } from './passed-calls.js';
import type { PassedClients } from './passed-clients.js';

/**
 * One server whose session is here, for the other replicas: requests, results and errors unchanged. Routing, audit and
 * metrics of a call belong to the replica that its client met.
 */
export class ReplicaSurface implements McpSurface {
  readonly key: string;
  readonly isVerbatim = true;
  serverInfo: JsonObject;
  private description: ServerDescription = { capabilities: {} };

  constructor(
    private readonly server: CatalogueServer,
    private readonly forwarder: RequestForwarder,
    private readonly subscriptions: ResourceSubscriptions,
    private readonly notifications: ServerNotifications,
    private readonly clients: PassedClients,
    private readonly slots: CallSlots,
    private readonly calls: PassedCalls,
    private readonly place: StdioPlace,
  ) {
    this.key = `replica:${server.id}`;
    this.serverInfo = { name: server.name, version: 'unknown' };
  }

  /** `person`: whose session is described; undefined for the shared one. */
  async ready(person?: Caller): Promise<void> {
    const { serverInfo, capabilities, instructions, provenance } = await this.session(person);
    this.serverInfo = serverInfo;
    this.description = {
      capabilities,
      ...(instructions !== undefined && { instructions }),
      meta: viaMeta(provenance.via),
    };
  }

  describe(): ServerDescription {
    return this.description;
  }

  async handle(method: string, params: JsonObject, call: ClientCall): Promise<RpcResult> {
    try {
      return method === 'tools/call'
        ? await this.callInTurn(params, call)
        : await this.forward(method, params, call);
    } catch (error) {
      if (error instanceof UpstreamRpcError) throw ofServer(error);
      if (error instanceof NotHere) throw notHere(error);
      if (!(error instanceof AppError)) throw error;
      throw new RpcError(rpcCode.serverError, error.message, failureData(error));
    }
  }

  inputSchemaOf(): undefined {
    return undefined;
  }

  async subscribe(uri: string, onUpdated: () => void): Promise<() => void> {
    const session = await this.place.whileHere(() => this.forwarder.session(this.server));
    return this.subscriptions.subscribe(this.server.id, uri, session, onUpdated);
  }

  watch(listener: (change: ServerChange) => void): () => void {
    return this.notifications.watch((serverId, change) => {
      if (serverId === this.server.id) listener(change);
    });
  }

  /** The session of the person whose credentials the other replica asks for; without one the shared session. */
  private session(person: Caller | undefined): Promise<UpstreamSession> {
    const { forwarder, place, server } = this;
    return place.whileHere(() =>
      person ? forwarder.sessionFor(server, person) : forwarder.session(server),
    );
  }

  private async sessionToSend(person: Caller | undefined): Promise<UpstreamSession> {
    try {
      return await this.session(person);
    } catch (error) {
      if (!(error instanceof AppError) || error instanceof NotHere) throw error;
      const data = failureData(error, 'not executed');
      throw new RpcError(rpcCode.serverError, error.message, data);
    }
  }

  /** The other replica may not know yet that people have their own credentials: no call takes the shared ones. */
  private refuseWithoutPerson(method: string): void {
    if (isList(method) || !this.forwarder.isPersonal(this.server)) return;
    throw new PersonUnknown(this.server);
  }

  /** The limit on the calls that a server works on holds for those of all replicas. */
  private async callInTurn(params: JsonObject, call: ClientCall): Promise<RpcResult> {
    const { server, slots } = this;
    const { subject } = call.client.caller;
    const slot =
      slots.take(server.id, subject) ??
      (await slots.wait(server, subject, this.forwarder.timeoutMs, call.signal));
    try {
      return await this.forward('tools/call', params, call);
    } finally {
      slots.release(server.id, slot);
    }
  }

  private async forward(method: string, params: JsonObject, call: ClientCall): Promise<RpcResult> {
    const { _meta: meta } = params;
    const caller = callerIn(meta);
    const { onBehalfOf: person } = call.client.caller;
    if (!person) this.refuseWithoutPerson(method);
    const session = await this.sessionToSend(person);
    const { id } = this.server;
    const asked = caller ? this.clients.asked(id, caller, call.client.caller) : call.client;
    const conversation = new ClientConversation(call, params, async (...question) =>
      refuseAsTold(await this.notifications.ask(id, call, asked, ...question)),
    );
    const { actor, onProgress, onLog, stateless, span } = conversation;
    const context = {
      actor,
      span,
      onProgress,
      onLog,
      stateless,
      client: caller ? this.clients.get(caller.client) : conversation.client,
      onServerRequest: caller?.answers ? conversation.onServerRequest : undefined,
    };
    const own = isJsonObject(meta) ? changed(meta, WITHOUT_CALLER) : undefined;
    const isEmpty = !own || Object.keys(own).length === 0;
    const passed = changed(params, { _meta: isEmpty ? undefined : own });
    // Of the replica itself, such as a list: the session has no further user by that.
    if (!caller && !person) {
      const { timeoutMs } = this.forwarder;
      return session.requestBytes(method, passed, { timeoutMs, signal: call.signal });
    }
    const send = (signal: CancelSignal): Promise<RpcResult> =>
      requestOnBehalf(
        session,
        method,
        passed,
        { ...context, signal },
        this.forwarder.timeoutMs,
        undefined,
        undefined,
        this.server.name,
      );
    try {
      return await (caller ? this.calls.run(caller, call.signal, send) : send(call.signal));
    } catch (error) {
      this.notifications.noteFailure(id, error, asked);
      throw error;
    }
  }
}

/** As a replica says it that stops: the request is sent to the next one. */
function notHere({ message }: NotHere): RpcError {
  const data = { error_code: 'SERVICE_UNAVAILABLE', outcome: 'not executed' };
  return new RpcError(rpcCode.serverError, message, data);
}

class PersonUnknown extends AppError {
  constructor({ name }: CatalogueServer) {
    super(`${name} is used with credentials of each person by now; nothing was executed`, {
      kind: 'unavailable',
      code: 'SERVER_UNAVAILABLE',
      context: { outcome: 'not executed' },
    });
  }
}
