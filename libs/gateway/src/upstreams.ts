import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Catalogue, type CatalogueServer } from '@app/discovery';
import { type ClientCall, rpcCode, RpcError, type UpstreamSession } from '@app/mcp';
import { AppError, Env, type JsonObject } from '@app/platform';
import {
  CallTool,
  type Conversation,
  forward,
  RECONNECT_WITHIN_MS,
  resolveRoute,
} from '@app/routing';
import { SessionPool } from '@app/sessions';
import { conversationOf } from './conversation.js';
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

  async callTool(params: JsonObject, call: ClientCall, serverId?: string): Promise<JsonObject> {
    const { name, ...rest } = params;
    if (typeof name !== 'string') {
      throw new RpcError(rpcCode.invalidParams, 'name must be a string');
    }
    const { tool } = resolveRoute(this.catalogue.current, name, serverId);
    const conversation = this.conversation(tool.serverId, call, params);
    const caller = { actor: call.client.caller, ...conversation };
    const command = new CallTool(tool.originalName, rest, caller, tool.serverId);
    try {
      const answer = await this.news.during(tool.serverId, call, () =>
        this.commands.execute(command),
      );
      return answer.result;
    } catch (error) {
      return toolFailure(error);
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
  ): Promise<JsonObject> {
    const session = await this.session(server);
    return this.news.during(server.id, call, () =>
      forward(session, method, params, this.conversation(server.id, call, params), this.timeoutMs),
    );
  }

  /** As the server stands now; the view that asks may have known it for long. */
  async session(server: CatalogueServer): Promise<UpstreamSession> {
    const now = this.catalogue.current.servers.get(server.id) ?? server;
    return this.sessions.get(now.id) ?? this.sessions.acquire(now, RECONNECT_WITHIN_MS);
  }

  private conversation(serverId: string, call: ClientCall, params: JsonObject): Conversation {
    return conversationOf(call, params, (...question) =>
      this.news.ask(serverId, call, ...question),
    );
  }

  private get timeoutMs(): number {
    return this.env.MCP_AGGREGATOR_REQUEST_TIMEOUT * 1_000;
  }
}
