import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { RequireScope } from '@app/access';
import { ApiErrors } from '@app/platform';
import { PolicyStore } from '../rows/policy.store.js';
import { ExplainAccess } from './explain-access.query.js';
import { ExplainDto, ExplanationView, HistoryQuery, PolicyHistoryView } from './policy.dto.js';

@ApiTags('policy')
@ApiBearerAuth()
@Controller('api/v1/aggregator')
@RequireScope('operate')
export class PolicyController {
  constructor(
    private readonly queries: QueryBus,
    private readonly rows: PolicyStore,
  ) {}

  @Post('access/explain')
  @HttpCode(200)
  @ApiOperation({ summary: 'Why a caller sees a tool in a view and may call it, or not' })
  @ApiOkResponse({ type: ExplanationView })
  @ApiErrors(400, 404, 422)
  explainAccess(@Body() { subject, view, tool }: ExplainDto): Promise<ExplanationView> {
    return this.queries.execute(new ExplainAccess(subject, view, tool));
  }

  @Get('policy/history')
  @ApiOperation({ summary: 'Changes of views, grants and overrides, the newest first' })
  @ApiOkResponse({ type: PolicyHistoryView })
  @ApiErrors(422)
  async listPolicyHistory(@Query() { limit, before }: HistoryQuery): Promise<PolicyHistoryView> {
    const rows = await this.rows.history(limit, before);
    return {
      entries: rows.map(({ createdAt, ...entry }) => ({
        ...entry,
        created_at: createdAt.toISOString(),
      })),
    };
  }
}
