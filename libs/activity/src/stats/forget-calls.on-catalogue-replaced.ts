import { EventsHandler, type IEventHandler } from '@nestjs/cqrs';
import { Catalogue } from '@app/catalogue';
import { CatalogueReplaced } from '@app/events';
import { CallDayStore } from './call-day.store.js';
import { CallDays } from './call-days.js';
import { CallHistory } from './call-history.js';

/** At every replica, because each counts by itself, and may store what it counted after another one removed the server. */
@EventsHandler(CatalogueReplaced)
export class ForgetCallsOnCatalogueReplaced implements IEventHandler<CatalogueReplaced> {
  constructor(
    private readonly catalogue: Catalogue,
    private readonly history: CallHistory,
    private readonly pending: CallDays,
    private readonly rows: CallDayStore,
  ) {}

  async handle({ serverIds }: CatalogueReplaced): Promise<void> {
    const { servers } = this.catalogue.current;
    const removed = serverIds.filter((id) => !servers.has(id));
    for (const id of removed) {
      this.history.forgetServer(id);
      this.pending.forgetServer(id);
    }
    for (const id of removed) await this.rows.forgetServer(id);
  }
}
