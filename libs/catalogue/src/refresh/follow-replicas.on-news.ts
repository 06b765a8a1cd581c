import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { type ReplicaNews, Replicas } from '@app/platform';
import { Catalogue } from '../catalogue.js';

/** Topics of messages between replicas about the catalogue; ids are server ids. */
export const TOOLS_CHANGED = 'tools';
export const SERVERS_CHANGED = 'servers';
/** Own tools, which are of no server; ids are tool ids. */
export const OWN_TOOLS_CHANGED = 'tools.own';

/** Reloads the rows that another replica wrote. */
@Injectable()
export class FollowReplicasOnNews implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger(FollowReplicasOnNews.name);
  private stop: (() => void) | undefined;

  constructor(
    private readonly replicas: Replicas,
    private readonly catalogue: Catalogue,
  ) {}

  onModuleInit(): void {
    this.stop = this.replicas.hear((news) => {
      this.follow(news).catch((error: unknown) => {
        this.logger.warn({ err: error }, 'catalogue.not_reloaded');
      });
    });
  }

  onModuleDestroy(): void {
    this.stop?.();
  }

  private async follow({ topic, ids }: ReplicaNews): Promise<void> {
    switch (topic) {
      case undefined:
        return this.catalogue.reload();
      case TOOLS_CHANGED:
        return this.catalogue.refresh(
          ids.length > 0 ? { servers: ids, toolsOf: ids } : { servers: 'all', toolsOf: 'all' },
        );
      case OWN_TOOLS_CHANGED:
        return this.catalogue.refresh(
          ids.length > 0 ? { tools: ids.map(Number) } : { servers: 'all', toolsOf: 'all' },
        );
      case SERVERS_CHANGED:
        return this.catalogue.refresh({ servers: ids.length > 0 ? ids : 'all' });
      default:
        return undefined;
    }
  }
}
