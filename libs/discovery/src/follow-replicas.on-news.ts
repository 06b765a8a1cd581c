import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { type ReplicaNews, Replicas } from '@app/platform';
import { Catalogue } from './catalogue.js';

/** Topics of what replicas tell each other about the catalogue; ids are those of servers. */
export const TOOLS_CHANGED = 'tools';
export const SERVERS_CHANGED = 'servers';

/** Another process wrote rows that this one's picture shows. */
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
        this.logger.warn({ err: error }, 'the catalogue could not follow another replica yet');
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
        return this.catalogue.reload(ids.length > 0 ? ids : undefined);
      case SERVERS_CHANGED:
        return this.catalogue.reloadServers();
      default:
        return undefined;
    }
  }
}
