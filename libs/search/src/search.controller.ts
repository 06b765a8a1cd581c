import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal, type Principal, RequireScope } from '@app/access';
import { ApiErrors, BodyLimit, CurrentSpan, type Span } from '@app/platform';
import { FollowsPolicy, mayKnow, Permissions } from '@app/policy';
import { SearchDto, SearchView, toSearchView } from './search.dto.js';
import { SearchTools } from './search-tools.query.js';

@ApiTags('search')
@ApiBearerAuth()
@Controller('api/v1/search')
export class SearchController {
  constructor(
    private readonly queries: QueryBus,
    private readonly permissions: Permissions,
  ) {}

  @Post()
  @HttpCode(200)
  @RequireScope('read')
  @FollowsPolicy()
  @BodyLimit('long')
  @ApiOperation({ summary: 'Find tools by meaning and by words' })
  @ApiOkResponse({ type: SearchView })
  @ApiErrors(400, 404, 413, 422)
  async searchTools(
    @Body() dto: SearchDto,
    @CurrentPrincipal() principal: Principal,
    @CurrentSpan() span: Span | undefined,
  ): Promise<SearchView> {
    const started = performance.now();
    const { offer, view, level } = dto.view
      ? this.permissions.onView(principal, dto.view)
      : this.permissions.inRest(principal);
    const leftOut = mayKnow(principal) ? 'all' : 'hits';
    const result = await this.queries.execute(
      new SearchTools(
        {
          query: dto.query,
          limit: dto.limit ?? undefined,
          strategy: dto.strategy ?? undefined,
          includeExternal: dto.include_external ?? undefined,
          servers: dto.server_filter ?? undefined,
          toolThreshold: dto.tool_threshold ?? undefined,
          fitThreshold: dto.fit_threshold ?? undefined,
          skillThreshold: dto.skill_threshold ?? undefined,
          explain: dto.explain ? leftOut : undefined,
        },
        offer,
        {
          name: principal.name,
          subject: principal.subject,
          viewId: view.id,
          mayOnlyRead: level === 'read',
        },
        span,
      ),
    );
    return toSearchView(
      dto.query,
      result,
      dto.include_schemas ?? true,
      performance.now() - started,
    );
  }
}
