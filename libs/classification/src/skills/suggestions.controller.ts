import { Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Actor, CurrentActor, RequireScope } from '@app/access';
import { RowIdPipe, ApiErrors } from '@app/platform';
import { SuggestionNotFound } from '../classification.errors.js';
import { ReviewSuggestion } from './review-suggestion.command.js';
import {
  ListSuggestionsQuery,
  ReviewView,
  suggestionCursor,
  SuggestionListView,
  toSuggestionView,
} from './skills.dto.js';
import { MAX_PENDING, MAX_PENDING_PER_SERVER, SuggestionStore } from './suggestion.store.js';

const SUGGESTIONS_FULL =
  `At most ${MAX_PENDING} suggestions wait for review, ${MAX_PENDING_PER_SERVER} from the tools of one server. ` +
  'Over that, those with the fewest tools, then the oldest, were removed. Approve or reject some to make room: ' +
  'a removed suggestion comes back when its tools are classified again.';

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
  async listSkillSuggestions(@Query() query: ListSuggestionsQuery): Promise<SuggestionListView> {
    const page = suggestionCursor.read(query);
    const [found, isFull] = await Promise.all([
      this.suggestions.list(query.status, page),
      this.suggestions.isFull(),
    ]);
    const { shown, about } = suggestionCursor.page(found, page);
    const note = isFull ? SUGGESTIONS_FULL : null;
    return { suggestions: shown.map(toSuggestionView), note, ...about };
  }

  @Post(':id/approve')
  @HttpCode(200)
  @RequireScope('operate')
  @ApiOperation({ summary: 'Add a suggested skill to the taxonomy' })
  @ApiOkResponse({ type: ReviewView })
  @ApiErrors(404, 409)
  async approveSkillSuggestion(
    @Param('id', SuggestionIdPipe) id: number,
    @CurrentActor() actor: Actor,
  ): Promise<ReviewView> {
    const { skillId } = await this.commands.execute(new ReviewSuggestion(id, 'APPROVED', actor));
    return { status: 'APPROVED', skill_id: skillId };
  }

  @Post(':id/reject')
  @HttpCode(200)
  @RequireScope('operate')
  @ApiOperation({ summary: 'Turn a suggested skill down, for good' })
  @ApiOkResponse({ type: ReviewView })
  @ApiErrors(404, 409)
  async rejectSkillSuggestion(
    @Param('id', SuggestionIdPipe) id: number,
    @CurrentActor() actor: Actor,
  ): Promise<ReviewView> {
    const { skillId } = await this.commands.execute(new ReviewSuggestion(id, 'REJECTED', actor));
    return { status: 'REJECTED', skill_id: skillId };
  }
}
