import { Injectable, Logger } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Interval } from '@nestjs/schedule';
import { DiscoverWaitingServers } from './discover-waiting-servers.command.js';

const LOOK_AGAIN_MS = 30_000;

/** Covers a removal of tools whose event was lost. */
@Injectable()
export class DiscoverWaitingServersJob {
  private readonly logger = new Logger(DiscoverWaitingServers.name);

  constructor(private readonly commands: CommandBus) {}

  @Interval(LOOK_AGAIN_MS)
  run(): void {
    this.commands.execute(new DiscoverWaitingServers()).catch((error: unknown) => {
      this.logger.error({ err: error }, 'discovery.waiting_servers_not_read');
    });
  }
}
