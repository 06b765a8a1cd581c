import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@app/discovery';
import { Env } from '@app/platform';
import { SessionsModule } from '@app/sessions';
import { CallAudit } from './call-audit.js';
import { CallMetrics } from './call.metrics.js';
import { CallSlots } from './call-slots.js';
import { CallToolHandler } from './call-tool.command.js';
import { ToolsController } from './tools.controller.js';

@Module({
  imports: [DiscoveryModule, SessionsModule],
  controllers: [ToolsController],
  providers: [
    CallToolHandler,
    CallAudit,
    CallMetrics,
    {
      provide: CallSlots,
      inject: [Env],
      useFactory: (env: Env) =>
        new CallSlots({
          running: env.MCP_AGGREGATOR_SERVER_CONCURRENCY,
          waiting: env.MCP_AGGREGATOR_SERVER_QUEUE,
        }),
    },
  ],
})
export class RoutingModule {}
