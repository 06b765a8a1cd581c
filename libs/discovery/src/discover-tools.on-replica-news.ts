import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Replicas } from '@app/platform';
import { SessionPool } from '@app/sessions';
import { DiscoverTools } from './discover-tools.command.js';
import { DISCOVERY_REQUESTED } from './refresh-tools.command.js';

/** Discovers for a replica that has no session to the server. */
@Injectable()
export class DiscoverToolsOnReplicaNews implements OnModuleInit, OnModuleDestroy {
  private stopHearing: (() => void) | undefined;

  constructor(
    private readonly replicas: Replicas,
    private readonly sessions: SessionPool,
    private readonly commands: CommandBus,
  ) {}

  onModuleInit(): void {
    this.stopHearing = this.replicas.hear(({ topic, ids }) => {
      if (topic !== DISCOVERY_REQUESTED || !this.sessions.leads) return;
      for (const id of ids) void this.commands.execute(new DiscoverTools(id));
    });
  }

  onModuleDestroy(): void {
    this.stopHearing?.();
  }
}
