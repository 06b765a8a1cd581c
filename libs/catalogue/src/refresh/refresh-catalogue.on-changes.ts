import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import {
  ServerListsChanged,
  ServerRegistered,
  ServerRemoved,
  ServerStatusChanged,
  ServerUpdated,
  ServerWritten,
  ToolApproved,
  ToolsClassified,
  ToolsDiscovered,
} from '@app/events';
import { Replicas, Signals } from '@app/platform';
import { Catalogue } from '../catalogue.js';
import type { Stale } from '../catalogue-change.js';
import { OWN_TOOLS_CHANGED, SERVERS_CHANGED, TOOLS_CHANGED } from './follow-replicas.on-news.js';

const CHANGES = [
  ServerListsChanged,
  ServerRegistered,
  ServerStatusChanged,
  ServerUpdated,
  ServerRemoved,
  ServerWritten,
  ToolApproved,
  ToolsDiscovered,
  ToolsClassified,
] as const;
type Change = InstanceType<(typeof CHANGES)[number]>;

/**
 * Each of these events means that rows were written. The publisher awaits the refresh, limited to the rows that
 * can differ.
 */
@Injectable()
export class RefreshCatalogueOnChanges implements OnModuleInit, OnModuleDestroy {
  private stops: readonly (() => void)[] = [];

  constructor(
    private readonly catalogue: Catalogue,
    private readonly replicas: Replicas,
    private readonly signals: Signals,
  ) {}

  onModuleInit(): void {
    this.stops = CHANGES.map((change) =>
      this.signals.hear<Change>(change, (event) => this.handle(event)),
    );
  }

  onModuleDestroy(): void {
    for (const stop of this.stops) stop();
  }

  async handle(event: Change): Promise<void> {
    await Promise.all([this.tellReplicas(event), this.catalogue.refresh(this.staleAfter(event))]);
  }

  private async tellReplicas(event: Change): Promise<void> {
    if (event instanceof ServerWritten) return; // the process that wrote the row has notified them
    if (event instanceof ToolsClassified) {
      const { serverIds, toolIds } = event;
      // Without ids of servers the others would read every tool.
      return serverIds.length > 0
        ? this.replicas.tell(TOOLS_CHANGED, serverIds)
        : this.replicas.tell(OWN_TOOLS_CHANGED, toolIds.map(String));
    }
    const { serverId } = event;
    return this.replicas.tell(mayChangeTools(event) ? TOOLS_CHANGED : SERVERS_CHANGED, [serverId]);
  }

  private staleAfter(event: Change): Stale {
    if (event instanceof ToolsClassified) return { tools: event.toolIds };
    if (event instanceof ToolApproved) return { tools: event.toolIds };
    const servers = [event.serverId];
    if (event instanceof ToolsDiscovered) {
      const tools = [...event.added, ...event.changed, ...event.removed];
      // Discovery changes nothing that is shown of the server itself.
      return this.catalogue.current.servers.has(event.serverId) ? { tools } : { servers, tools };
    }
    if ('server' in event && event.server) return { written: event.server };
    const withTools =
      event instanceof ServerWritten ||
      (event instanceof ServerUpdated && event.fields.includes('name'));
    return withTools ? { servers, toolsOf: servers } : { servers };
  }
}

/** False for most reconnects: the server usually lists the same tools as before. */
function mayChangeTools(event: Exclude<Change, ToolsClassified>): boolean {
  if (event instanceof ToolApproved) return true;
  if (event instanceof ToolsDiscovered) {
    return event.added.length + event.changed.length + event.removed.length > 0;
  }
  return event instanceof ServerUpdated && event.fields.includes('name');
}
