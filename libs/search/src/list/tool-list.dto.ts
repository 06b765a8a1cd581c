import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsOptional, IsString } from 'class-validator';
import type { CatalogueServer, CatalogueTool } from '@app/catalogue';
import {
  IsCleanText,
  isJsonObject,
  type JsonObject,
  MaxChars,
  PageQuery,
  PageView,
  ToFlag,
  tokensOf,
} from '@app/platform';
import { type RuleAnnotation, ruleAnnotations } from '@app/policy';
import { SourceServerView } from '../search.dto.js';
import { type ToolFilter, type ToolStatus, toolStatuses } from './select-tools.js';

export class ListToolsQuery extends PageQuery {
  @ApiPropertyOptional({ example: 'github-mcp', description: 'Name of a server.' })
  @IsOptional()
  @IsString({ message: 'Input should be a string' })
  @MaxChars(255, { message: 'Must have at most 255 characters' })
  @IsCleanText()
  readonly server?: string;

  @ApiPropertyOptional({ example: 'version_control', description: 'Id of a skill.' })
  @IsOptional()
  @IsString({ message: 'Input should be a string' })
  @MaxChars(64, { message: 'Must have at most 64 characters' })
  @IsCleanText()
  readonly skill?: string;

  @ApiPropertyOptional()
  @ToFlag()
  @IsOptional()
  @IsBoolean({ message: 'Must be true or false' })
  readonly is_classified?: boolean;

  @ApiPropertyOptional({
    enum: ruleAnnotations,
    description: 'Without hints a tool counts as destructive and open world, as MCP says.',
  })
  @IsOptional()
  @IsIn(ruleAnnotations, { message: `Must be one of ${ruleAnnotations.join(', ')}` })
  readonly annotation?: RuleAnnotation;

  @ApiPropertyOptional({
    enum: toolStatuses,
    description:
      'ready: can be called; unavailable: its server is not connected; withheld: waits for approval, which only admins list.',
  })
  @IsOptional()
  @IsIn(toolStatuses, { message: `Must be one of ${toolStatuses.join(', ')}` })
  readonly status?: ToolStatus;

  @ApiPropertyOptional({
    example: 'issue',
    description: 'A part of the name, the title or the description, in any case.',
  })
  @IsOptional()
  @IsString({ message: 'Input should be a string' })
  @MaxChars(200, { message: 'Must have at most 200 characters' })
  @IsCleanText()
  readonly text?: string;
}

export class ToolView {
  @ApiProperty({ example: '1' })
  readonly id!: string;
  @ApiProperty({ example: 'github-mcp.create_issue' })
  readonly name!: string;
  @ApiProperty({ example: 'create_issue' })
  readonly original_name!: string;
  @ApiProperty({ type: String, nullable: true, example: 'Create issue' })
  readonly title!: string | null;
  @ApiProperty({ example: 'Create a new GitHub issue' })
  readonly description!: string;
  @ApiProperty({ type: [String], example: ['version_control'] })
  readonly skill_ids!: readonly string[];
  @ApiProperty({ type: String, nullable: true, example: 'version_control' })
  readonly primary_skill_id!: string | null;
  @ApiProperty()
  readonly is_classified!: boolean;
  @ApiProperty({
    type: String,
    nullable: true,
    example: 'openai:gpt-5-mini',
    description: 'Model that assigned the skills, or `human`; null while unclassified.',
  })
  readonly classified_by!: string | null;
  @ApiProperty()
  readonly is_external!: boolean;
  @ApiProperty({ type: SourceServerView, nullable: true })
  readonly source_server!: SourceServerView | null;
  @ApiProperty({ format: 'date-time' })
  readonly discovered_at!: string;
}

export class ToolDetailView extends ToolView {
  @ApiProperty({ type: 'object', additionalProperties: true })
  readonly input_schema!: JsonObject;
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    description: 'Of `structuredContent` in results.',
  })
  readonly output_schema!: JsonObject | null;
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'Hints of the server, such as `readOnlyHint`; a server may lie.',
  })
  readonly annotations!: JsonObject;
  @ApiProperty({ description: 'Estimated cost of the definition in the context of a model.' })
  readonly definition_tokens!: number;
  @ApiProperty({ description: 'SHA-256 of the definition as it is offered.' })
  readonly definition_hash!: string;
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    description: 'As the server lists it, without overrides; null without the scope admin.',
  })
  readonly listed_definition!: JsonObject | null;
}

export class ToolListView extends PageView {
  @ApiProperty({ type: [ToolView] })
  readonly tools!: ToolView[];
  @ApiProperty()
  readonly classified!: number;
  @ApiProperty()
  readonly unclassified!: number;
}

export function toToolView(tool: CatalogueTool, server: CatalogueServer | undefined): ToolView {
  return {
    id: String(tool.id),
    name: tool.name,
    original_name: tool.originalName,
    title: tool.title,
    description: tool.description,
    skill_ids: tool.skillIds,
    primary_skill_id: tool.primarySkillId,
    is_classified: tool.isClassified,
    classified_by: tool.classifiedBy,
    is_external: tool.isExternal,
    source_server: server ? { id: server.id, name: server.name, status: server.status } : null,
    discovered_at: tool.discoveredAt.toISOString(),
  };
}

export function toToolDetailView(
  tool: CatalogueTool,
  server: CatalogueServer | undefined,
  { listed_definition }: Pick<ToolDetailView, 'listed_definition'>,
): ToolDetailView {
  const { inputSchema, definition } = tool;
  const { outputSchema, annotations } = definition;
  const shown = { ...definition, description: tool.description, inputSchema };
  return Object.assign(toToolView(tool, server), {
    input_schema: inputSchema,
    output_schema: isJsonObject(outputSchema) ? outputSchema : null,
    annotations: isJsonObject(annotations) ? annotations : {},
    definition_tokens: tokensOf(JSON.stringify(shown)),
    definition_hash: tool.contentHash,
    listed_definition,
  });
}

export function toFilter({ is_classified: isClassified, ...query }: ListToolsQuery): ToolFilter {
  const { server, skill, annotation, status, text } = query;
  return { server, skill, isClassified, annotation, status, text };
}
