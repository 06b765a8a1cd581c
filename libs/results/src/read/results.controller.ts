import { Controller, Get, Param, Query } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { type Actor, CurrentActor, personOf, RequireScope } from '@app/access';
import { ApiErrors, UuidPipe } from '@app/platform';
import { FollowsPolicy } from '@app/policy';
import { ResultNotFound } from '../results.errors.js';
import { ReadKeptResult } from './read-kept-result.query.js';
import { ResultPageQuery, ResultPageView, toResultPageView } from './results.dto.js';

const ResultIdPipe = new UuidPipe((id) => new ResultNotFound(id));

@ApiTags('tools')
@ApiBearerAuth()
@Controller('api/v1/aggregator/results')
export class ResultsController {
  constructor(private readonly queries: QueryBus) {}

  @Get(':id')
  @RequireScope('call')
  @FollowsPolicy()
  @ApiOperation({ summary: 'Read one page of a whole result that was shortened in its answer' })
  @ApiParam({ name: 'id', format: 'uuid' })
  @ApiOkResponse({ type: ResultPageView })
  @ApiErrors(404, 422)
  async readResult(
    @Param('id', ResultIdPipe) id: string,
    @Query() { page }: ResultPageQuery,
    @CurrentActor() actor: Actor,
  ): Promise<ResultPageView> {
    const { subject } = personOf(actor);
    const found = await this.queries.execute(new ReadKeptResult(id, page, subject));
    if (!found) throw new ResultNotFound(id);
    return toResultPageView(id, page, found);
  }
}
