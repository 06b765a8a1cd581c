import { Controller, Get, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors } from '@app/platform';
import { RequireScope } from '../authorize/access.decorators.js';
import { auditCursor, AuditPageView, ListAuditParams, toView } from './audit.dto.js';
import { AuditStore } from './audit.store.js';

@ApiTags('audit')
@ApiBearerAuth()
@Controller('api/v1/aggregator/audit')
@RequireScope('admin')
export class AuditController {
  constructor(private readonly audit: AuditStore) {}

  @Get()
  @ApiOperation({
    summary: 'List audit log entries (changes, refusals and tool calls), newest first',
  })
  @ApiOkResponse({ type: AuditPageView })
  @ApiErrors(422)
  async listAuditEntries(@Query() params: ListAuditParams): Promise<AuditPageView> {
    const page = auditCursor.read(params);
    const found = await this.audit.page({ event: params.event, serverId: params.server_id }, page);
    const { shown, about } = auditCursor.page(found, page);
    return { entries: shown.map(toView), ...about };
  }
}
