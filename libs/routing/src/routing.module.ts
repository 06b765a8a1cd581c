import { Module } from '@nestjs/common';
import { ActivityModule } from '@app/activity';
import { CatalogueModule } from '@app/catalogue';
import { LearningModule } from '@app/learning';
import { PolicyModule } from '@app/policy';
import { Env } from '@app/platform';
import { ResultsModule } from '@app/results';
import { SessionsModule } from '@app/sessions';
import { CallAudit } from './call-audit.js';
import { CallMetrics, executionDuration, routingDuration } from './call.metrics.js';
import { CallSlots } from './call-slots.js';
import { CallToolHandler } from './call-tool.command.js';
import { ToolCallsController } from './tool-calls.controller.js';

@Module({
  imports: [
    ActivityModule,
    CatalogueModule,
    LearningModule,
    PolicyModule,
    ResultsModule,
    SessionsModule,
  ],
  controllers: [ToolCallsController],
  providers: [
    CallToolHandler,
    CallAudit,
    routingDuration,
    executionDuration,
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
  exports: [CallSlots],
})
export class RoutingModule {}
