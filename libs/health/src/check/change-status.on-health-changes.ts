import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { HealthFailed, HealthRecovered } from '@app/events';
import { Signals } from '@app/platform';
import { ChangeServerStatus, unlessRemoved } from '@app/registry';
import { SessionPool } from '@app/sessions';
import { signalAfter } from './health-verdict.js';

/** A lost event is made up for by the next check, because the row counts the failures. */
@Injectable()
export class ChangeStatusOnHealthChanges implements OnModuleInit, OnModuleDestroy {
  private stops: readonly (() => void)[] = [];

  constructor(
    private readonly signals: Signals,
    private readonly commands: CommandBus,
    private readonly pool: SessionPool,
  ) {}

  onModuleInit(): void {
    this.stops = [
      this.signals.hear(HealthFailed, (event) => unlessRemoved(() => this.fail(event))),
      this.signals.hear(HealthRecovered, ({ serverId }) =>
        unlessRemoved(() => this.commands.execute(new ChangeServerStatus(serverId, 'recovered'))),
      ),
    ];
  }

  onModuleDestroy(): void {
    for (const stop of this.stops) stop();
  }

  private async fail({ serverId, consecutiveFailures, reason, code }: HealthFailed): Promise<void> {
    const signal = signalAfter(consecutiveFailures);
    if (!signal) return;
    await this.commands.execute(
      new ChangeServerStatus(serverId, signal, { reason, details: { code } }),
    );
    if (signal === 'failed') await this.pool.reset(serverId, reason);
  }
}
