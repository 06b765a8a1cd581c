import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { JsonObject } from '@app/platform';
import type { HitExplanation, SearchExplanation } from './explain-search.js';
import { type LeftOutKind, leftOutKinds, type LeftOutTool, MAX_LEFT_OUT } from './left-out.js';

export class ScoreSharesView {
  @ApiProperty({ minimum: 0, maximum: 1, example: 0.41, description: 'Found by its words.' })
  readonly lexical!: number;
  @ApiProperty({ minimum: 0, maximum: 1, example: 0.54, description: 'Found by its meaning.' })
  readonly dense!: number;
  @ApiProperty({
    minimum: 0,
    maximum: 1,
    example: 0.05,
    description: 'Called with success after queries like this one, in the same view.',
  })
  readonly learnt!: number;
  @ApiProperty({
    minimum: 0,
    maximum: 1,
    example: 0,
    description: 'Its exact name is in the query.',
  })
  readonly name!: number;
}

export class HitSkillView {
  @ApiProperty({ example: 'version_control' })
  readonly id!: string;
  @ApiProperty({ minimum: 0, maximum: 1, example: 0.9 })
  readonly score!: number;
}

export class MatchedWordView {
  @ApiProperty({ example: 'issue', description: 'As the query writes it.' })
  readonly word!: string;
  @ApiProperty({
    isArray: true,
    enum: ['name', 'server', 'description', 'parameters'],
    example: ['name', 'description'],
  })
  readonly fields!: readonly string[];
}

export class HitExplanationView {
  @ApiProperty({ type: ScoreSharesView, description: 'Together they are the score.' })
  readonly shares!: ScoreSharesView;
  @ApiProperty({
    type: HitSkillView,
    nullable: true,
    description:
      'The best skill of the tool that matches the query. Tools of matching skills come first; the score does not change.',
  })
  readonly skill!: HitSkillView | null;
  @ApiProperty({ type: [MatchedWordView] })
  readonly matched_words!: readonly MatchedWordView[];
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Position in `clauses` of the one that fits best, from 0.',
  })
  readonly clause!: number | null;
  @ApiProperty({
    type: Number,
    nullable: true,
    example: 11.8,
    description:
      'Of the whole query. Only for operators, because it depends on all tools; null for others.',
  })
  readonly bm25!: number | null;
  @ApiProperty({ type: Number, nullable: true, example: 0.71, description: 'Of the whole query.' })
  readonly cosine!: number | null;
  @ApiProperty({ type: 'integer', nullable: true, example: 1, description: 'From 1.' })
  readonly lexical_rank!: number | null;
  @ApiProperty({ type: 'integer', nullable: true, example: 1, description: 'From 1.' })
  readonly dense_rank!: number | null;
}

export class LeftOutToolView {
  @ApiProperty({ example: '7' })
  readonly id!: string;
  @ApiProperty({ example: 'slack.post_message' })
  readonly name!: string;
  @ApiProperty({ example: 'slack' })
  readonly server!: string;
  @ApiProperty({
    minimum: 0,
    maximum: 1,
    example: 0.87,
    description: 'Compared with the hits. A withheld tool is compared by its words only.',
  })
  readonly score!: number;
  @ApiProperty({ example: 1, description: 'The position it would have, from 1.' })
  readonly would_rank!: number;
  @ApiProperty({
    enum: leftOutKinds,
    description:
      'withheld: its definition waits for approval; view: no rule of the view includes it, or one excludes it; level: only tools annotated read-only are offered; server: its server is not connected.',
  })
  readonly kind!: LeftOutKind;
  @ApiProperty({ example: 'Its server slack is ERROR: The login has expired' })
  readonly reason!: string;
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    example: { effect: 'exclude', name: 'delete_*' },
    description: 'The rule of the view that excludes it.',
  })
  readonly rule!: JsonObject | null;
}

export class SearchExplanationView {
  @ApiProperty({
    type: String,
    nullable: true,
    example: 'static-256-int8',
    description: 'Model that embedded the query; null if it was searched by words only.',
  })
  readonly embedding_model!: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    example: 'de',
    description: 'Language that the query was translated from; null for English.',
  })
  readonly language!: string | null;
  @ApiProperty({
    type: [String],
    example: ['create', 'folder'],
    description: 'Corrections, translations and what abbreviations stand for, added to the query.',
  })
  readonly added_words!: readonly string[];
  @ApiProperty({
    type: [String],
    example: ['find the failing run', 'post its log to a channel'],
    description: 'The intents of the query; empty if it has one.',
  })
  readonly clauses!: readonly string[];
  @ApiProperty({ example: 0.1, description: 'Tools with a lower score are left out.' })
  readonly tool_threshold!: number;
  @ApiProperty({ example: 0.4, description: 'Skills with a lower score do not match.' })
  readonly skill_threshold!: number;
  @ApiPropertyOptional({
    type: [LeftOutToolView],
    description: `The best ${MAX_LEFT_OUT} tools that fit and were not searched. Only for operators.`,
  })
  readonly left_out?: readonly LeftOutToolView[];
  @ApiPropertyOptional({ example: 3, description: 'Number of such tools. Only for operators.' })
  readonly left_out_total?: number;
}

export function toExplanationView(explanation: SearchExplanation): SearchExplanationView {
  const { leftOut } = explanation;
  return {
    embedding_model: explanation.embeddingModel ?? null,
    language: explanation.language ?? null,
    added_words: explanation.addedWords,
    clauses: explanation.clauses,
    tool_threshold: explanation.toolThreshold,
    skill_threshold: explanation.skillThreshold,
    ...(leftOut && {
      left_out: leftOut.tools.map(toLeftOutView),
      left_out_total: leftOut.total,
    }),
  };
}

export function toHitExplanationView(hit: HitExplanation): HitExplanationView {
  return {
    shares: {
      lexical: rounded(hit.lexical),
      dense: rounded(hit.dense),
      learnt: rounded(hit.learnt),
      name: rounded(hit.name),
    },
    skill: hit.skill ? { id: hit.skill.id, score: rounded(hit.skill.score) } : null,
    matched_words: hit.words,
    clause: hit.clause,
    bm25: hit.bm25 === null ? null : rounded(hit.bm25),
    cosine: hit.cosine === null ? null : rounded(hit.cosine),
    lexical_rank: hit.lexicalRank,
    dense_rank: hit.denseRank,
  };
}

function toLeftOutView({
  tool,
  score,
  wouldRank,
  kind,
  reason,
  rule,
}: LeftOutTool): LeftOutToolView {
  return {
    id: String(tool.id),
    name: tool.name,
    server: tool.serverName,
    score: rounded(score),
    would_rank: wouldRank,
    kind,
    reason,
    rule,
  };
}

function rounded(value: number): number {
  return Number(value.toFixed(4));
}
