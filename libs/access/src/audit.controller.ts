import { Controller, Get, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors } from '@app/platform';
import { RequireScope } from './access.decorators.js';
import { AuditPageView, ListAuditParams, toView } from './audit.dto.js';
import { AuditStore } from './audit.store.js';

@ApiTags('audit')
@ApiBearerAuth()
@Controller('api/v1/aggregator/audit')
@RequireScope('admin')
export class AuditController {
  constructor(private readonly audit: AuditStore) {}

  @Get()
  @ApiOperation({ summary: 'Who changed what, and who was refused, newest first' })
  @ApiOkResponse({ type: AuditPageView })
  @ApiErrors(422)
  async list(
    @Query() { event, server_id, limit, offset }: ListAuditParams,
  ): Promise<AuditPageView> {
    const { rows, total } = await this.audit.page({ event, serverId: server_id, limit, offset });
    return { entries: rows.map(toView), total, limit, offset };
  }
}
