import {
  Inject,
  Injectable,
  Logger,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { Clock, Env, Replicas } from '@app/platform';
import { ServerRetries } from '@app/sessions';
import { OFFERINGS_CHANGED } from './offering.store.js';
import { Offerings } from './offerings.js';

/** Another replica stored lists of servers, or its notifications may have been missed. */
@Injectable()
export class ReloadOfferingsOnReplicaNews implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger(ReloadOfferingsOnReplicaNews.name);
  private readonly retries: ServerRetries;
  private stop: (() => void) | undefined;

  constructor(
    private readonly replicas: Replicas,
    private readonly offerings: Offerings,
    clock: Clock,
    @Inject(Env) env: Env,
  ) {
    this.retries = new ServerRetries(clock, env);
  }

  onModuleInit(): void {
    this.stop = this.replicas.hear(({ topic, ids }) => {
      if (topic !== undefined && topic !== OFFERINGS_CHANGED) return;
      void this.load(ids.length > 0 ? ids : undefined);
    });
  }

  onModuleDestroy(): void {
    this.stop?.();
    this.retries.stop();
  }

  /** What could not be read is read again, all of it: no other message may follow. */
  private async load(serverIds: readonly string[] | undefined): Promise<void> {
    try {
      await this.offerings.load(serverIds);
    } catch (error) {
      const retryMs = this.retries.schedule('rows', () => this.load(undefined));
      this.logger.warn({ retry_in_ms: retryMs, err: error }, 'offering.not_reloaded');
    }
  }
}
