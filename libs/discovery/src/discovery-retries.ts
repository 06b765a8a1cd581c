import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Clock, Env } from '@app/platform';
import { ServerRetries } from '@app/sessions';

/** Discoveries that failed, by server id. */
@Injectable()
export class DiscoveryRetries extends ServerRetries implements OnModuleDestroy {
  constructor(clock: Clock, @Inject(Env) env: Env) {
    super(clock, env);
  }

  onModuleDestroy(): void {
    this.stop();
  }
}
