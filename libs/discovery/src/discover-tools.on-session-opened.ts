import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { SessionOpened } from '@app/events';
import { Signals } from '@app/platform';
import { DiscoverTools } from './discover-tools.command.js';

/** Awaited by a connect with a wait time, so that tools can be called once it returns (contract R39). */
@Injectable()
export class DiscoverToolsOnSessionOpened implements OnModuleInit, OnModuleDestroy {
  private stopHearing: (() => void) | undefined;

  constructor(
    private readonly signals: Signals,
    private readonly commands: CommandBus,
  ) {}

  onModuleInit(): void {
    this.stopHearing = this.signals.hear(SessionOpened, ({ serverId }) =>
      this.commands.execute(new DiscoverTools(serverId)),
    );
  }

  onModuleDestroy(): void {
    this.stopHearing?.();
  }
}
