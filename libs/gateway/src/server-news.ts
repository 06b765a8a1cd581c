import { Injectable, Logger } from '@nestjs/common';
import {
  type ClientCall,
  rpcCode,
  type ServerChange,
  type ServerRequestHandler,
  UpstreamRpcError,
} from '@app/mcp';
import { type CancelSignal, Crowd, type JsonObject } from '@app/platform';
import { SessionPool } from '@app/sessions';
import { ClientRoots } from './client-roots.js';
import { askClient, wantsLog } from './conversation.js';
import { UrlElicitations } from './url-elicitations.js';

export type NewsListener = (serverId: string, change: ServerChange) => void;

/** What servers say and ask without being called, and which clients that concerns. */
@Injectable()
export class ServerNews {
  private readonly logger = new Logger(ServerNews.name);
  private readonly listeners = new Set<NewsListener>();
  private readonly calls = new Map<string, Crowd<ClientCall>>();

  constructor(
    sessions: SessionPool,
    private readonly roots: ClientRoots,
    private readonly elicitations: UrlElicitations,
  ) {
    sessions.onServerNotice((serverId, method, params) => this.receive(serverId, method, params));
    sessions.onServerQuestion((serverId, ...question) => this.answer(serverId, ...question));
  }

  watch(listener: NewsListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Remembers for whom a server is at work, until the returned function is called. */
  start(serverId: string, call: ClientCall): () => void {
    let calls = this.calls.get(serverId);
    if (!calls) this.calls.set(serverId, (calls = new Crowd()));
    calls.add(call);
    this.roots.noteUser(serverId, call.client.caller.name);
    return () => calls.remove(call);
  }

  noteFailure(serverId: string, error: unknown, call: ClientCall): void {
    this.elicitations.noteRefusal(serverId, error, call.client);
  }

  /** Puts a question of a server to the client that it works for. */
  ask(
    serverId: string,
    call: ClientCall,
    ...question: Parameters<ServerRequestHandler>
  ): Promise<JsonObject> {
    const [method, params] = question;
    this.elicitations.noteQuestion(serverId, method, params, call.client);
    return askClient(call, ...question);
  }

  private receive(serverId: string, method: string, params: JsonObject): void {
    switch (method) {
      case 'notifications/tools/list_changed':
        return this.tell(serverId, { kind: 'tools' });
      case 'notifications/prompts/list_changed':
        return this.tell(serverId, { kind: 'prompts' });
      case 'notifications/resources/list_changed':
        return this.tell(serverId, { kind: 'resources' });
      case 'notifications/resources/updated':
        if (typeof params['uri'] === 'string') {
          this.tell(serverId, { kind: 'resource', uri: params['uri'] });
        }
        return;
      case 'notifications/message':
        return this.log(serverId, params);
      case 'notifications/elicitation/complete':
        return this.elicitations.complete(serverId, params);
      default:
        this.logger.debug({ serverId, method }, 'a notification that no client can be told of');
    }
  }

  private tell(serverId: string, change: ServerChange): void {
    for (const listener of this.listeners) listener(serverId, change);
  }

  /** Belongs to no call as far as anybody can tell: for the one client at work, or for who asked for its level. */
  private log(serverId: string, params: JsonObject): void {
    const call = this.onlyClientOf(serverId);
    if (!call) this.tell(serverId, { kind: 'log', params });
    else if (wantsLog(call, params['level'])) call.notify('notifications/message', params);
  }

  /** A question that came without its call is put to the client only when there is no doubt which one. */
  private async answer(
    serverId: string,
    method: string,
    params: JsonObject,
    signal: CancelSignal,
  ): Promise<JsonObject> {
    const call = this.onlyClientOf(serverId);
    if (call) return this.ask(serverId, call, method, params, signal);
    if (method === 'roots/list') return this.roots.of(serverId);
    throw new UpstreamRpcError({
      code: rpcCode.methodNotFound,
      message: 'It cannot be told which client is asked',
    });
  }

  /** The newest call, if all that run are of one client. */
  private onlyClientOf(serverId: string): ClientCall | undefined {
    const calls = [...(this.calls.get(serverId) ?? [])];
    const newest = calls.at(-1);
    return calls.every((call) => call.client === newest?.client) ? newest : undefined;
  }
}
