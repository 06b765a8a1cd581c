import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayNotEmpty,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsNumber,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
} from 'class-validator';
import {
  IsCleanText,
  type JsonObject,
  MAX_NAMED_SERVERS,
  MAX_SERVER_NAME_CHARS,
  MaxChars,
} from '@app/platform';
import type { SearchExplanation } from './explain/explain-search.js';
import {
  HitExplanationView,
  SearchExplanationView,
  toExplanationView,
  toHitExplanationView,
} from './explain/explanation.dto.js';
import type { NoGoodMatch } from './fit/no-good-match.js';
import { type FoundTool, MAX_QUERY_LENGTH, type SearchResult } from './search-tools.query.js';
import { strategies, type Strategy } from './rank/strategy.js';

export class SearchDto {
  @ApiProperty({ example: 'create a GitHub issue', maxLength: MAX_QUERY_LENGTH })
  @IsString({ message: 'Input should be a string' })
  @Matches(/\S/, { message: 'Must not be empty' })
  @MaxChars(MAX_QUERY_LENGTH, { message: `Must have at most ${MAX_QUERY_LENGTH} characters` })
  @IsCleanText()
  readonly query!: string;

  @ApiPropertyOptional({ type: String, enum: ['tool'], default: 'tool', nullable: true })
  @IsOptional()
  @IsIn(['tool'], { message: 'Only tools are searched: must be tool' })
  readonly item_type?: 'tool' | null;

  @ApiPropertyOptional({
    type: Boolean,
    nullable: true,
    default: true,
    description: 'false searches only the tools of the aggregator itself.',
  })
  @IsOptional()
  @IsBoolean({ message: 'Input should be true or false' })
  readonly include_external?: boolean | null;

  @ApiPropertyOptional({
    type: [String],
    nullable: true,
    example: ['github-mcp'],
    description: 'Names of servers; null for all.',
  })
  @IsOptional()
  @IsArray({ message: 'Input should be a list of server names' })
  @ArrayNotEmpty({ message: 'Must name at least one server, or be null' })
  @ArrayMaxSize(MAX_NAMED_SERVERS, { message: `Must have at most ${MAX_NAMED_SERVERS} names` })
  @IsString({ each: true, message: 'Every name should be a string' })
  @MaxChars(MAX_SERVER_NAME_CHARS, {
    each: true,
    message: `A server name has at most ${MAX_SERVER_NAME_CHARS} characters`,
  })
  readonly server_filter?: string[] | null;

  @ApiPropertyOptional({ type: 'integer', nullable: true, minimum: 1, maximum: 100, default: 10 })
  @IsOptional()
  @IsInt({ message: 'Must be a whole number' })
  @Min(1, { message: 'Must be at least 1' })
  @Max(100, { message: 'Must be at most 100' })
  readonly limit?: number | null;

  @ApiPropertyOptional({
    type: Number,
    nullable: true,
    minimum: 0,
    maximum: 1,
    default: 0.4,
    description: 'Minimum score of a skill whose tools are searched first.',
  })
  @IsOptional()
  @IsNumber({}, { message: 'Input should be a number' })
  @Min(0, { message: 'Must be at least 0' })
  @Max(1, { message: 'Must be at most 1' })
  readonly skill_threshold?: number | null;

  @ApiPropertyOptional({
    type: Number,
    nullable: true,
    minimum: 0,
    maximum: 1,
    default: 0.1,
    description: 'Tools with a lower score are left out.',
  })
  @IsOptional()
  @IsNumber({}, { message: 'Input should be a number' })
  @Min(0, { message: 'Must be at least 0' })
  @Max(1, { message: 'Must be at most 1' })
  readonly tool_threshold?: number | null;

  @ApiPropertyOptional({
    type: Number,
    nullable: true,
    minimum: 0,
    maximum: 1,
    default: 0,
    description: 'Tools with a lower fit are left out.',
  })
  @IsOptional()
  @IsNumber({}, { message: 'Input should be a number' })
  @Min(0, { message: 'Must be at least 0' })
  @Max(1, { message: 'Must be at most 1' })
  readonly fit_threshold?: number | null;

  @ApiPropertyOptional({ type: Boolean, nullable: true, default: true })
  @IsOptional()
  @IsBoolean({ message: 'Input should be true or false' })
  readonly include_schemas?: boolean | null;

  @ApiPropertyOptional({
    enum: strategies,
    default: 'hierarchical',
    description:
      'hierarchical: first the tools of the skills that match the query; direct: all tools.',
  })
  @IsOptional()
  @IsIn(strategies, { message: `Must be one of ${strategies.join(', ')}` })
  readonly strategy?: Strategy | null;

  @ApiPropertyOptional({
    type: Boolean,
    nullable: true,
    default: false,
    description:
      'Explains each score, and the query; to admins also which tools fit and were left out.',
  })
  @IsOptional()
  @IsBoolean({ message: 'Input should be true or false' })
  readonly explain?: boolean | null;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    example: 'support',
    description: 'Slug of a view: searches what it offers. Without it, what the REST API shows.',
  })
  @IsOptional()
  @IsString({ message: 'Input should be a string' })
  @MaxChars(64, { message: 'Must have at most 64 characters' })
  @IsCleanText()
  readonly view?: string | null;
}

export class SourceServerView {
  @ApiProperty({ example: '550e8400-e29b-41d4-a716-446655440000' })
  readonly id!: string;
  @ApiProperty({ example: 'github-mcp' })
  readonly name!: string;
  @ApiProperty({ example: 'CONNECTED' })
  readonly status!: string;
}

export class FoundToolView {
  @ApiProperty({ example: '1' })
  readonly id!: string;
  @ApiProperty({ example: 1 })
  readonly db_id!: number;
  @ApiProperty({ example: 'tool' })
  readonly type!: 'tool';
  @ApiProperty({ example: 'github-mcp.create_issue' })
  readonly name!: string;
  @ApiProperty({ example: 'create_issue' })
  readonly original_name!: string;
  @ApiProperty({ example: 'Create a new GitHub issue' })
  readonly description!: string;
  @ApiProperty({
    minimum: 0,
    maximum: 1,
    example: 0.95,
    description:
      'For the order of this answer: relative to the best that words and meaning found. Not whether the tool fits.',
  })
  readonly score!: number;
  @ApiProperty({
    minimum: 0,
    maximum: 1,
    example: 0.93,
    description:
      'Whether the tool fits, whatever else was found: below 0.2 it probably does not do what was asked.',
  })
  readonly fit!: number;
  @ApiProperty({ type: [String], example: ['version_control', 'productivity'] })
  readonly skill_ids!: readonly string[];
  @ApiProperty({ type: String, nullable: true, example: 'version_control' })
  readonly primary_skill_id!: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    example: 'openai:gpt-5-mini',
    description: 'Model that assigned the skills, or `human`; null while unclassified.',
  })
  readonly classified_by!: string | null;
  @ApiProperty({
    type: SourceServerView,
    nullable: true,
    description: 'null for a tool of the aggregator itself.',
  })
  readonly source_server!: SourceServerView | null;
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'Only with include_schemas.',
  })
  readonly input_schema?: JsonObject;
  @ApiPropertyOptional({ type: HitExplanationView, description: 'Only with explain.' })
  readonly explanation?: HitExplanationView;
}

export class MatchedSkillView {
  @ApiProperty({ example: 'version_control' })
  readonly id!: string;
  @ApiProperty({ example: 'Version control & repos' })
  readonly name!: string;
  @ApiProperty({ minimum: 0, maximum: 1, example: 0.9 })
  readonly score!: number;
}

export class SkillFacetView {
  @ApiProperty({ example: 'version_control' })
  readonly skill_id!: string;
  @ApiProperty({ example: 7, description: 'Tools in this answer with that skill.' })
  readonly count!: number;
}

export class ExcludedServerView {
  @ApiProperty({ example: 'jira-mcp' })
  readonly name!: string;
  @ApiProperty({ example: 'ERROR' })
  readonly status!: string;
  @ApiProperty({ example: 12 })
  readonly tool_count!: number;
  @ApiProperty({ example: 'It cannot be reached' })
  readonly reason!: string;
}

export class NearToolView {
  @ApiProperty({ example: 'chart.generate_pie_chart' })
  readonly name!: string;
  @ApiProperty({ minimum: 0, maximum: 1, example: 0.11 })
  readonly fit!: number;
}

export class ConnectableToolView extends NearToolView {
  @ApiProperty({ example: 'home-mcp' })
  readonly server!: string;
  @ApiProperty({ example: 'It is disconnected; connect it to search its tools' })
  readonly reason!: string;
}

export class NoGoodMatchView {
  @ApiProperty({ example: 'Probably no connected tool does this; …' })
  readonly message!: string;
  @ApiProperty({ type: [NearToolView], description: 'The best of what was searched.' })
  readonly nearest!: readonly NearToolView[];
  @ApiProperty({
    type: [ConnectableToolView],
    description: 'Tools that fit, of servers that are not connected.',
  })
  readonly connect!: readonly ConnectableToolView[];
}

export class SearchMetadataView {
  @ApiProperty({ enum: ['hierarchical', 'direct', 'hierarchical+direct'] })
  readonly strategy_used!: string;
  @ApiProperty({ example: 3 })
  readonly servers_searched!: number;
  @ApiProperty({ example: 45, description: 'Tools of servers that were searched.' })
  readonly external_tools_count!: number;
  @ApiProperty({ type: [ExcludedServerView] })
  readonly excluded_servers!: readonly ExcludedServerView[];
  @ApiProperty({ type: [SkillFacetView] })
  readonly skill_facets!: readonly SkillFacetView[];
  @ApiProperty({
    type: NoGoodMatchView,
    nullable: true,
    description: 'Set if probably no tool does what was asked.',
  })
  readonly no_good_match!: NoGoodMatchView | null;
  @ApiProperty({
    description: 'True when a part of the ranking was unavailable, such as the embedding model.',
  })
  readonly degraded!: boolean;
  @ApiProperty({ type: String, nullable: true, description: 'Reason for the degraded ranking.' })
  readonly degraded_reason!: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    example: 'q3ZkT0b1xYcA',
    description:
      'Given as `search_id` with the call that follows, it lets searches learn from the call. null if they do not learn.',
  })
  readonly search_id!: string | null;
  @ApiProperty({
    example: 1.9,
    description: 'Time for embedding the query and searching the vector index.',
  })
  readonly vector_time_ms!: number;
  @ApiProperty({ example: 0.8, description: 'Time for lexical search, rank fusion and skills.' })
  readonly ranking_time_ms!: number;
  @ApiProperty({ example: 2.9 })
  readonly total_time_ms!: number;
}

export class SearchView {
  @ApiProperty({ example: 'create a GitHub issue' })
  readonly query!: string;
  @ApiProperty({ type: [FoundToolView] })
  readonly tools!: readonly FoundToolView[];
  @ApiProperty({ type: [MatchedSkillView] })
  readonly matched_skills!: readonly MatchedSkillView[];
  @ApiProperty()
  readonly metadata!: SearchMetadataView;
  @ApiPropertyOptional({ type: SearchExplanationView, description: 'Only with explain.' })
  readonly explanation?: SearchExplanationView;
}

export function toSearchView(
  query: string,
  result: SearchResult,
  includeSchemas: boolean,
  totalMs: number,
): SearchView {
  return {
    query,
    tools: result.tools.map((found) => toFoundToolView(found, includeSchemas, result.explanation)),
    matched_skills: result.matchedSkills.map(({ id, name, score }) => ({
      id,
      name,
      score: round(score, 4),
    })),
    metadata: {
      strategy_used: result.strategyUsed,
      servers_searched: result.serversSearched,
      external_tools_count: result.externalTools,
      excluded_servers: result.excludedServers.map(({ name, status, toolCount, reason }) => ({
        name,
        status,
        tool_count: toolCount,
        reason,
      })),
      skill_facets: facetsOf(result.tools),
      no_good_match: result.noGoodMatch ? toNoGoodMatchView(result.noGoodMatch) : null,
      degraded: result.degraded !== undefined,
      degraded_reason: result.degraded ?? null,
      search_id: result.searchId ?? null,
      vector_time_ms: round(result.vectorMs, 2),
      ranking_time_ms: round(result.rankingMs, 2),
      total_time_ms: round(totalMs, 2),
    },
    ...(result.explanation && { explanation: toExplanationView(result.explanation) }),
  };
}

export function toNoGoodMatchView({ message, nearest, connect }: NoGoodMatch): NoGoodMatchView {
  return {
    message,
    nearest: nearest.map(({ tool, fit }) => ({ name: tool.name, fit: round(fit, 4) })),
    connect: connect.map(({ tool, fit, reason }) => ({
      name: tool.name,
      fit: round(fit, 4),
      server: tool.serverName,
      reason,
    })),
  };
}

function toFoundToolView(
  { tool, server, score, fit }: FoundTool,
  includeSchema: boolean,
  explanation: SearchExplanation | undefined,
): FoundToolView {
  const hit = explanation?.hits.get(tool.id);
  return {
    id: String(tool.id),
    db_id: tool.id,
    type: 'tool',
    name: tool.name,
    original_name: tool.originalName,
    description: tool.description,
    score: round(score, 4),
    fit: round(fit, 4),
    skill_ids: tool.skillIds,
    primary_skill_id: tool.primarySkillId,
    classified_by: tool.classifiedBy,
    source_server: server ? { id: server.id, name: server.name, status: server.status } : null,
    ...(includeSchema && { input_schema: tool.inputSchema }),
    ...(hit && { explanation: toHitExplanationView(hit) }),
  };
}

function facetsOf(tools: readonly FoundTool[]): SkillFacetView[] {
  const counts = new Map<string, number>();
  for (const id of tools.flatMap(({ tool }) => tool.skillIds)) {
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return [...counts]
    .map(([skill_id, count]) => ({ skill_id, count }))
    .sort((a, b) => b.count - a.count || (a.skill_id < b.skill_id ? -1 : 1));
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
