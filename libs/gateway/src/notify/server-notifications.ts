import { Injectable, Logger } from '@nestjs/common';
import type { ClientCall, ServerChange } from '@app/mcp-server';
import type { ServerRequestHandler } from '@app/mcp-client';
import { type JsonObject, Signal } from '@app/platform';
import { askClient } from '../forward/forward-context.js';
import { ResourceSubscriptions } from './resource-subscriptions.js';
import { type AskedClient, PendingUrlElicitations } from './pending-url-elicitations.js';

export type NewsListener = (serverId: string, change: ServerChange) => void;

/** Distributes notifications and requests of servers to the clients concerned. */
@Injectable()
export class ServerNotifications {
  private readonly logger = new Logger(ServerNotifications.name);
  private readonly changes = new Signal<Parameters<NewsListener>>('server news');

  constructor(
    private readonly subscriptions: ResourceSubscriptions,
    private readonly elicitations: PendingUrlElicitations,
  ) {}

  watch(listener: NewsListener): () => void {
    return this.changes.hear((news) => listener(...news));
  }

  noteFailure(serverId: string, error: unknown, client: AskedClient): void {
    this.elicitations.noteRefusal(serverId, error, client);
  }

  /** Forwards a server request to the client whose call is in flight. */
  ask(
    serverId: string,
    call: ClientCall,
    client: AskedClient,
    ...question: Parameters<ServerRequestHandler>
  ): Promise<JsonObject> {
    const [method, params] = question;
    this.elicitations.noteQuestion(serverId, method, params, client);
    return askClient(call, ...question);
  }

  receive(serverId: string, method: string, params: JsonObject, user: string | undefined): void {
    switch (method) {
      case 'notifications/tools/list_changed':
        return this.tell(serverId, { kind: 'tools' });
      case 'notifications/prompts/list_changed':
        return this.tell(serverId, { kind: 'prompts' });
      case 'notifications/resources/list_changed':
        return this.tell(serverId, { kind: 'resources' });
      case 'notifications/resources/updated':
        if (typeof params['uri'] === 'string') {
          this.subscriptions.updated(serverId, params['uri']);
        }
        return;
      case 'notifications/message':
        if (user !== undefined) this.tell(serverId, { kind: 'log', params, user });
        return;
      case 'notifications/elicitation/complete':
        return this.elicitations.complete(serverId, params, user);
      default:
        this.logger.debug({ serverId, method }, 'a notification that no client can be told of');
    }
  }

  private tell(serverId: string, change: ServerChange): void {
    void this.changes.tell([serverId, change]);
  }
}
