import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { SchedulerRegistry } from '@nestjs/schedule';
import { Env } from '@app/platform';
import { CheckServers } from './check-servers.command.js';

const NAME = 'check-servers';

@Injectable()
export class CheckServersJob implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(CheckServersJob.name);

  constructor(
    private readonly scheduler: SchedulerRegistry,
    private readonly commands: CommandBus,
    @Inject(Env) private readonly env: Env,
  ) {}

  onApplicationBootstrap(): void {
    const check = (): void => {
      this.commands.execute(new CheckServers()).catch((error: unknown) => {
        this.logger.error({ err: error }, 'health.checks_not_started');
      });
    };
    const everyMs = this.env.MCP_AGGREGATOR_HEALTH_INTERVAL * 1_000;
    this.scheduler.addInterval(NAME, setInterval(check, everyMs).unref());
  }

  onModuleDestroy(): void {
    if (this.scheduler.doesExist('interval', NAME)) this.scheduler.deleteInterval(NAME);
  }
}
