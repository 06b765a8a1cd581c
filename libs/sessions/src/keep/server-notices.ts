import { ToolListChanged } from '@app/events';
import type { NotificationHandler } from '@app/mcp-client';
import { type Clock, Coalescer, Signal, type Signals } from '@app/platform';

/** Coalesces repeated `list_changed` notifications of one server. */
const LIST_CHANGES = { firstMs: 200, maxMs: 5_000, maxKeys: 10_000 };
/** Coalesces `resources/updated` notifications per resource. */
const RESOURCE_UPDATES = { firstMs: 100, maxMs: 1_000, maxKeys: 10_000 };
/** Updates of resources with longer URIs are dropped, because the URI is kept as the key for coalescing. */
const MAX_URI_CHARS = 8_192;

export type ServerNotice = (serverId: string, ...notice: Parameters<NotificationHandler>) => void;

/** Notifications that servers send outside of calls: changed lists and resources, log messages. */
export class ServerNotices {
  private readonly notices = new Signal<Parameters<ServerNotice>>('server notices');
  private readonly listChanges: Coalescer;
  private readonly resourceUpdates: Coalescer;

  constructor(
    clock: Clock,
    private readonly signals: Signals,
  ) {
    this.listChanges = new Coalescer(clock, LIST_CHANGES);
    this.resourceUpdates = new Coalescer(clock, RESOURCE_UPDATES);
  }

  hear(handler: ServerNotice): () => void {
    return this.notices.hear((notice) => handler(...notice));
  }

  /** Coalesces bursts before any work is done for them. */
  receive(serverId: string, ...notice: Parameters<NotificationHandler>): void {
    const [method, params] = notice;
    switch (method) {
      case 'notifications/tools/list_changed':
        return this.listChanges.run(`${serverId} ${method}`, () => {
          this.announce(serverId, method, {}, undefined);
          void this.signals.tell(new ToolListChanged(serverId));
        });
      case 'notifications/prompts/list_changed':
      case 'notifications/resources/list_changed':
        return this.listChanges.run(`${serverId} ${method}`, () =>
          this.announce(serverId, method, {}, undefined),
        );
      case 'notifications/resources/updated': {
        const { uri } = params;
        if (typeof uri !== 'string' || uri.length > MAX_URI_CHARS) return;
        return this.resourceUpdates.run(`${serverId} ${uri}`, () =>
          this.announce(serverId, method, { uri }, undefined),
        );
      }
      default:
        return this.announce(serverId, ...notice);
    }
  }

  private announce(serverId: string, ...notice: Parameters<NotificationHandler>): void {
    void this.notices.tell([serverId, ...notice]);
  }
}
