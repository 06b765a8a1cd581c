import { Inject } from '@nestjs/common';
import { Command, CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Env } from '@app/platform';
import { DiscoveredServerStore, type WaitingServer } from '@app/registry';
import { SessionPool } from '@app/sessions';
import { DiscoverTools } from '../discover-tools.command.js';
import { DiscoveryRetries } from '../discovery-retries.js';

/**
 * Discovers connected servers again whose rows say that tools were left out for lack of room, now that there is
 * room, or that the list could not be read: a process that has led before may have written that.
 */
export class DiscoverWaitingServers extends Command<void> {}

@CommandHandler(DiscoverWaitingServers)
export class DiscoverWaitingServersHandler implements ICommandHandler<DiscoverWaitingServers> {
  constructor(
    private readonly servers: DiscoveredServerStore,
    private readonly sessions: SessionPool,
    private readonly retries: DiscoveryRetries,
    private readonly commands: CommandBus,
    @Inject(Env) private readonly env: Env,
  ) {}

  async execute(): Promise<void> {
    if (!this.sessions.leads) return; // the process that leads has a session to each of them
    const { published, waiting } = await this.servers.waitingForRoom();
    const due = fillingRoom(waiting, this.env.MCP_AGGREGATOR_MAX_TOOLS - published);
    const unlisted = await this.servers.unlisted();
    const ids = new Set([...due.map(({ id }) => id), ...unlisted]);
    const idle = [...ids].filter((id) => !this.retries.isWaiting(id));
    await Promise.all(idle.map((id) => this.commands.execute(new DiscoverTools(id))));
  }
}

/** As many of them, in this order, as the free room needs. */
export function fillingRoom(
  waiting: readonly WaitingServer[],
  free: number,
): readonly WaitingServer[] {
  let left = free;
  return waiting.filter(({ leftOut }) => {
    const isDue = left > 0;
    left -= leftOut;
    return isDue;
  });
}
