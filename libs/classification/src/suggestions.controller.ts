import { Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Actor, CurrentActor, RequireScope } from '@app/access';
import { ApiErrors } from '@app/platform';
import { SuggestionNotFound } from './classification.errors.js';
import { ReviewSuggestion } from './review-suggestion.command.js';
import { RowIdPipe } from './row-id.pipe.js';
import {
  ListSuggestionsQuery,
  ReviewView,
  SuggestionListView,
  toSuggestionView,
} from './skills.dto.js';
import { SuggestionStore } from './suggestion.store.js';

const SuggestionIdPipe = new RowIdPipe((id) => new SuggestionNotFound(id));

@ApiTags('skills')
@ApiBearerAuth()
@Controller('api/v1/aggregator/skill-suggestions')
export class SuggestionsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly suggestions: SuggestionStore,
  ) {}

  @Get()
  @RequireScope('read')
  @ApiOperation({ summary: 'Skills that a classifier missed in the taxonomy, by name' })
  @ApiOkResponse({ type: SuggestionListView })
  @ApiErrors(422)
  async list(
    @Query() { status, limit, offset }: ListSuggestionsQuery,
  ): Promise<SuggestionListView> {
    const { suggestions, total } = await this.suggestions.list(status, { limit, offset });
    return { suggestions: suggestions.map(toSuggestionView), total, limit, offset };
  }

  @Post(':id/approve')
  @HttpCode(200)
  @RequireScope('admin')
  @ApiOperation({ summary: 'Add a suggested skill to the taxonomy' })
  @ApiOkResponse({ type: ReviewView })
  @ApiErrors(404, 409)
  async approve(
    @Param('id', SuggestionIdPipe) id: number,
    @CurrentActor() actor: Actor,
  ): Promise<ReviewView> {
    const { skillId } = await this.commands.execute(new ReviewSuggestion(id, 'APPROVED', actor));
    return { status: 'APPROVED', skill_id: skillId };
  }

  @Post(':id/reject')
  @HttpCode(200)
  @RequireScope('admin')
  @ApiOperation({ summary: 'Turn a suggested skill down, for good' })
  @ApiOkResponse({ type: ReviewView })
  @ApiErrors(404, 409)
  async reject(
    @Param('id', SuggestionIdPipe) id: number,
    @CurrentActor() actor: Actor,
  ): Promise<ReviewView> {
    const { skillId } = await this.commands.execute(new ReviewSuggestion(id, 'REJECTED', actor));
    return { status: 'REJECTED', skill_id: skillId };
  }
}
