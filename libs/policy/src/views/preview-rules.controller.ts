import { Body, Controller, HttpCode, Post, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { RequireScope } from '@app/access';
import { Catalogue } from '@app/catalogue';
import { ApiErrors, BodyLimit, inSlices } from '@app/platform';
import { Policy } from '../policy.js';
import { PreviewRulesDto, PreviewRulesQuery, RulesPreviewView } from './preview-rules.dto.js';
import { previewRules, type RuledState } from './preview-rules.js';
import { readRules } from './read-rules.js';

@ApiTags('policy')
@ApiBearerAuth()
@Controller('api/v1/aggregator/views/preview')
@RequireScope('operate')
export class PreviewRulesController {
  constructor(
    private readonly policy: Policy,
    private readonly catalogue: Catalogue,
  ) {}

  @Post()
  @HttpCode(200)
  @BodyLimit('long')
  @ApiOperation({ summary: 'What rules would do to each tool, before a view is saved with them' })
  @ApiOkResponse({ type: RulesPreviewView })
  @ApiErrors(400, 404, 413, 422)
  async previewRules(
    @Body() { rules: given, view: slug, level }: PreviewRulesDto,
    @Query() { limit, offset, state, text }: PreviewRulesQuery,
  ): Promise<RulesPreviewView> {
    const { servers, serversByName, tools, withheld } = this.catalogue.current;
    const rules = readRules(given, serversByName);
    const before = slug == null ? undefined : this.policy.current.viewNamed(slug);
    const isReadOnly = level === 'call_read_only';
    const offer = this.policy.current.offerOfDraft({ ...(before ?? NEW_VIEW), rules }, isReadOnly);
    const all = [...tools, ...withheld.tools].filter(({ isExternal }) => isExternal);
    all.sort((a, b) => (a.name < b.name ? -1 : 1));
    const preview = await inSlices(previewRules(offer, all, servers));
    const wanted = text?.toLowerCase() ?? '';
    const listed = preview.tools.filter(
      (one) =>
        (state == null || one.state === state) && one.tool.name.toLowerCase().includes(wanted),
    );
    const numberOf = (kind: RuledState): number =>
      preview.tools.filter((one) => one.state === kind).length;
    return {
      tools: listed.slice(offset, offset + limit).map(({ tool, ...ruled }) => ({
        id: tool.id,
        name: offer.nameOf(tool),
        server: tool.serverName,
        original_name: tool.originalName,
        ...ruled,
      })),
      rules: preview.rules,
      offered: numberOf('offered'),
      held: numberOf('held'),
      left_out: numberOf('left_out'),
      total: listed.length,
      limit,
      offset,
    };
  }
}

const NEW_VIEW = {
  id: '',
  slug: '',
  title: null,
  description: null,
  budgetTokens: null,
  createdAt: new Date(0),
  updatedAt: new Date(0),
} as const;
