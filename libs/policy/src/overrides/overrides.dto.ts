import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
} from 'class-validator';
import type { CatalogueTool } from '@app/catalogue';
import {
  IsCleanText,
  type JsonObject,
  type JsonValue,
  MaxChars,
  MIN_RESULT_TOKENS,
} from '@app/platform';
import type { GivenOverride } from './set-override.command.js';
import { OFFERED_NAME, type ToolOverride } from './tool-override.js';

const text = { message: 'Input should be a string' };

export class OverrideQuery {
  @ApiPropertyOptional({ description: 'The view that it is for; by default every view.' })
  @IsOptional()
  @IsString(text)
  @MaxLength(63, { message: 'Must have at most 63 characters' })
  readonly view?: string;
}

export class OverrideDto implements GivenOverride {
  @ApiPropertyOptional({ type: String, nullable: true, pattern: OFFERED_NAME.source })
  @IsOptional()
  @IsString(text)
  @Matches(OFFERED_NAME, { message: 'Must have letters, digits, _ and -, at most 64, and no __' })
  readonly name?: string | null;

  @ApiPropertyOptional({ type: String, nullable: true, maxLength: 200 })
  @IsOptional()
  @IsString(text)
  @MinLength(1, { message: 'Must not be empty' })
  @MaxChars(200, { message: 'Must have at most 200 characters' })
  @IsCleanText()
  readonly title?: string | null;

  @ApiPropertyOptional({ type: String, nullable: true, maxLength: 10_000 })
  @IsOptional()
  @IsString(text)
  @MaxChars(10_000, { message: 'Must have at most 10000 characters' })
  @IsCleanText()
  readonly description?: string | null;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    example: { readOnlyHint: true },
    description: 'Laid over those of the server.',
  })
  @IsOptional()
  @IsObject({ message: 'Input should be a JSON object' })
  readonly annotations?: JsonObject | null;

  @ApiPropertyOptional({
    type: [String],
    description: 'Removed from the schema; refused in calls.',
  })
  @IsOptional()
  @IsArray({ message: 'Must be a list of names' })
  @ArrayMaxSize(100, { message: 'Must have at most 100 names' })
  @ArrayUnique({ message: 'Must name each argument once' })
  @IsString({ each: true, message: 'Must be a list of names' })
  @MaxChars(255, { each: true, message: 'A name has at most 255 characters' })
  @IsCleanText({ each: true })
  readonly hidden_arguments?: string[] | null;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    example: { project: 'acme', user: '${user.name}', key: '${ACME_KEY}' },
    description:
      'Sent unless the client gives another value. Texts may hold `${NAME}` of an environment variable and `${user.name}`, which are resolved at the call.',
  })
  @IsOptional()
  @IsObject({ message: 'Input should be a JSON object' })
  readonly preset_arguments?: Record<string, JsonValue> | null;

  @ApiPropertyOptional({
    type: 'integer',
    nullable: true,
    minimum: MIN_RESULT_TOKENS,
    maximum: 10_000_000,
  })
  @IsOptional()
  @IsInt({ message: 'Must be a whole number' })
  @Min(MIN_RESULT_TOKENS, { message: `Must be at least ${MIN_RESULT_TOKENS}` })
  @Max(10_000_000, { message: 'Must be at most 10000000' })
  readonly budget_tokens?: number | null;
}

export class OverrideView {
  @ApiProperty()
  readonly tool_id!: number;
  @ApiProperty({ description: 'The tool as server and name.' })
  readonly tool!: string;
  @ApiProperty({ type: String, nullable: true, description: 'null: every view' })
  readonly view!: string | null;
  @ApiProperty({ type: String, nullable: true })
  readonly name!: string | null;
  @ApiProperty({ type: String, nullable: true })
  readonly title!: string | null;
  @ApiProperty({ type: String, nullable: true })
  readonly description!: string | null;
  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true })
  readonly annotations!: JsonObject | null;
  @ApiProperty({ type: [String] })
  readonly hidden_arguments!: string[];
  @ApiProperty({ type: 'object', additionalProperties: true })
  readonly preset_arguments!: Record<string, JsonValue>;
  @ApiProperty({ type: Number, nullable: true })
  readonly budget_tokens!: number | null;
  @ApiProperty({
    description: 'The definition of the server changed after this was saved: check it.',
  })
  readonly has_drifted!: boolean;
  @ApiProperty()
  readonly updated_by!: string;
  @ApiProperty({ format: 'date-time' })
  readonly updated_at!: string;
}

export class OverrideListView {
  @ApiProperty({ type: [OverrideView] })
  readonly overrides!: OverrideView[];
}

export function toOverrideView(
  override: ToolOverride,
  tool: CatalogueTool,
  view: string | null,
): OverrideView {
  return {
    tool_id: tool.id,
    tool: tool.name,
    view,
    name: override.name,
    title: override.title,
    description: override.description,
    annotations: override.annotations,
    hidden_arguments: [...override.hiddenArguments],
    preset_arguments: { ...override.presetArguments },
    budget_tokens: override.budgetTokens,
    has_drifted: override.basisHash !== '' && override.basisHash !== tool.contentHash,
    updated_by: override.updatedBy,
    updated_at: override.updatedAt.toISOString(),
  };
}
