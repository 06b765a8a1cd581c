import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { RequireScope } from '@app/access';
import { ApiErrors, InvalidInput } from '@app/platform';
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
  explainAccess(@Body() dto: ExplainDto): Promise<ExplanationView> {
    const { subject, subjects, view, tool, tool_name } = dto;
    const asked = either('subjects', subjects, subject == null ? null : [subject]);
    return this.queries.execute(new ExplainAccess(asked, view, either('tool', tool, tool_name)));
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

/** One of two ways to say the same. */
function either<A, B>(
  field: string,
  one: A | null | undefined,
  other: B | null | undefined,
): A | B {
  if (one != null && other == null) return one;
  if (other != null && one == null) return other;
  const msg = 'Must be given in one of its two forms';
  throw new InvalidInput([{ loc: ['body', field], msg, type: 'value_error' }]);
}
