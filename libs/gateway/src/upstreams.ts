import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Catalogue, type CatalogueServer } from '@app/discovery';
import { type ClientCall, rpcCode, RpcError, type RpcResult, type UpstreamSession } from '@app/mcp';
import { AppError, Env, type JsonObject } from '@app/platform';
import { CallTool, forward, RECONNECT_WITHIN_MS, resolveRoute } from '@app/routing';
import { SessionPool } from '@app/sessions';
import { ClientConversation } from './conversation.js';
import { ServerNews } from './server-news.js';
import { toolFailure } from './tool-failure.js';

/** Hands requests of clients on to servers. */
@Injectable()
export class Upstreams {
  constructor(
    private readonly commands: CommandBus,
    private readonly catalogue: Catalogue,
    private readonly sessions: SessionPool,
    private readonly news: ServerNews,
    private readonly env: Env,
  ) {}

  async callTool(params: JsonObject, call: ClientCall, serverId?: string): Promise<RpcResult> {
    const { name } = params;
    if (typeof name !== 'string') {
      throw new RpcError(rpcCode.invalidParams, 'name must be a string');
    }
    const route = resolveRoute(this.catalogue.current, name, serverId);
    const { id } = route.server;
    const caller = this.conversation(id, call, params);
    const stop = this.news.start(id, call);
    try {
      const command = new CallTool(route, params, caller);
      return (await this.commands.execute(command)).result;
    } catch (error) {
      this.news.noteFailure(id, error, call);
      return toolFailure(error);
    } finally {
      stop();
    }
  }

  inputSchemaOf(tool: string, serverId?: string): JsonObject | undefined {
    try {
      return resolveRoute(this.catalogue.current, tool, serverId).tool.inputSchema;
    } catch (error) {
      // The call itself will say what is wrong with the name.
      if (error instanceof AppError) return undefined;
      throw error;
    }
  }

  async request(
    server: CatalogueServer,
    method: string,
    params: JsonObject,
    call: ClientCall,
  ): Promise<RpcResult> {
    const session = await this.session(server);
    const stop = this.news.start(server.id, call);
    try {
      const conversation = this.conversation(server.id, call, params);
      return await forward(session, method, params, conversation, this.timeoutMs);
    } catch (error) {
      this.news.noteFailure(server.id, error, call);
      throw error;
    } finally {
      stop();
    }
  }

  /** As the server stands now; the view that asks may have known it for long. */
  async session(server: CatalogueServer): Promise<UpstreamSession> {
    const now = this.catalogue.current.servers.get(server.id) ?? server;
    return this.sessions.get(now.id) ?? this.sessions.acquire(now, RECONNECT_WITHIN_MS);
  }

  private conversation(serverId: string, call: ClientCall, params: JsonObject): ClientConversation {
    return new ClientConversation(call, params, (...question) =>
      this.news.ask(serverId, call, ...question),
    );
  }

  private get timeoutMs(): number {
    return this.env.MCP_AGGREGATOR_REQUEST_TIMEOUT * 1_000;
  }
}
