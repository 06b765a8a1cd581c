import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { type AuditEntry, AuditStore } from '@app/access';
import type { StateTopic } from '../feed/activity-event.js';
import { ActivityFeed } from '../feed/activity-feed.js';

/** The changes of policy and approvals have an entry each, at the one replica that made them. */
const TOPICS: Readonly<Record<string, StateTopic>> = {
  view: 'policy',
  grant: 'policy',
  override: 'policy',
  tools: 'approval',
};

/** A request is not a change. */
const NOT_A_CHANGE = new Set(['tools.refresh_requested']);

/** Audit entries as events of their own, and those about policy and approvals without their actor. */
@Injectable()
export class TellAuditEntries implements OnModuleInit, OnModuleDestroy {
  private stop: (() => void) | undefined;

  constructor(
    private readonly audit: AuditStore,
    private readonly feed: ActivityFeed,
  ) {}

  onModuleInit(): void {
    this.stop = this.audit.onRecorded((entry) => this.tell(entry));
  }

  onModuleDestroy(): void {
    this.stop?.();
  }

  private tell(entry: AuditEntry): Promise<void> | undefined {
    const { event, actor, server, outcome = 'success', details = {} } = entry;
    const serverIds = server ? [server.id] : [];
    if (this.feed.isHeard('audit')) {
      const data = {
        event,
        outcome,
        actor: actor.name,
        actor_subject: actor.subject ?? null,
        ip_address: actor.ip,
        server_id: server?.id ?? null,
        server_name: server?.name ?? null,
        details,
      };
      void this.feed.tell({ topic: 'audit', data, serverIds });
    }
    const topic = TOPICS[event.split('.')[0] ?? ''];
    if (!topic || outcome !== 'success' || NOT_A_CHANGE.has(event)) return undefined;
    const about = server ? { server_id: server.id, server: server.name } : {};
    const data = { change: event, ...about, details };
    return this.feed.tell({ topic, data, serverIds, caller: actor.name });
  }
}
