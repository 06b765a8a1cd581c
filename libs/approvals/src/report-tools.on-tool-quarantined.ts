import { Logger } from '@nestjs/common';
import { EventsHandler, type IEventHandler } from '@nestjs/cqrs';
import { ToolQuarantined } from '@app/events';

const NAMED = 20;

@EventsHandler(ToolQuarantined)
export class ReportToolsOnToolQuarantined implements IEventHandler<ToolQuarantined> {
  private readonly logger = new Logger(ToolQuarantined.name);

  handle({ serverId, server, tools, findings }: ToolQuarantined): void {
    this.logger.warn(
      {
        server,
        server_id: serverId,
        tools: tools.slice(0, NAMED),
        count: tools.length,
        findings,
        hint: 'GET /api/v1/aggregator/approvals shows what changed; approve or reject it there',
      },
      'tool.withheld',
    );
  }
}
