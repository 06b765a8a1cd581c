import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Offerings } from './offerings.js';
import { ServerNews } from './server-news.js';

/** Servers announce many changes in a row; one reading after the last of them is enough. */
const SETTLE_MS = 100;

@Injectable()
export class RefreshOfferingsOnNews implements OnModuleInit {
  private readonly logger = new Logger(RefreshOfferingsOnNews.name);
  private readonly due = new Set<string>();

  constructor(
    private readonly news: ServerNews,
    private readonly offerings: Offerings,
  ) {}

  onModuleInit(): void {
    this.news.watch((serverId, { kind }) => {
      if ((kind !== 'prompts' && kind !== 'resources') || this.due.has(serverId)) return;
      this.due.add(serverId);
      setTimeout(() => {
        this.due.delete(serverId);
        this.offerings.refresh(serverId).catch((error: unknown) => {
          this.logger.error({ serverId, err: error }, 'what a server offers could not be read');
        });
      }, SETTLE_MS).unref();
    });
  }
}
