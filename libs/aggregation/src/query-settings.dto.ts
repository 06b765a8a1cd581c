import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayNotEmpty,
  IsArray,
  IsBoolean,
  IsNumber,
  IsObject,
  IsOptional,
  IsString,
  Max,
  MaxLength,
  Min,
  MinLength,
  ValidateNested,
} from 'class-validator';
import type { CatalogueServer } from '@app/discovery';
import { IsCleanText, type JsonObject, PageView } from '@app/platform';
import type { QueryRule } from './query-rule.js';
import { DEFAULT_SETTINGS, type ServerSettings } from './server-settings.js';
import { MAX_PATTERN_CHARS, MAX_RULES, MAX_WEIGHT, MIN_WEIGHT } from './settings-limits.js';

export class QueryRuleDto implements QueryRule {
  @ApiProperty({
    maxLength: MAX_PATTERN_CHARS,
    example: 'documentation|docs|library',
    description: 'RE2 syntax; upper and lower case are the same.',
  })
  @IsString({ message: 'Input should be a string' })
  @MinLength(1, { message: 'Must not be empty' })
  @MaxLength(MAX_PATTERN_CHARS, { message: `Must have at most ${MAX_PATTERN_CHARS} characters` })
  @IsCleanText()
  readonly pattern!: string;

  @ApiProperty({ type: [String], example: ['context7'], description: 'Names of servers.' })
  @IsArray({ message: 'Must be a list of server names' })
  @ArrayNotEmpty({ message: 'Must name at least one server' })
  @ArrayMaxSize(1_000, { message: 'Must name at most 1000 servers' })
  @IsString({ each: true, message: 'Must be a list of server names' })
  @IsCleanText({ each: true })
  readonly servers!: string[];
}

export class QueryRulesDto {
  @ApiProperty({ type: [QueryRuleDto], maxItems: MAX_RULES })
  @IsArray({ message: 'Must be a list of rules' })
  @ArrayMaxSize(MAX_RULES, { message: `Must have at most ${MAX_RULES} rules` })
  @ValidateNested({ each: true })
  @Type(() => QueryRuleDto)
  readonly rules!: QueryRuleDto[];
}

export class QueryRulesView extends PageView {
  @ApiProperty({ type: [QueryRuleDto], description: 'In the order in which they are tried.' })
  readonly rules!: QueryRule[];
}

export class ServerSettingsDto {
  @ApiPropertyOptional({ default: true, description: 'false: never asked.' })
  @IsOptional()
  @IsBoolean({ message: 'Must be true or false' })
  readonly enabled?: boolean | null;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description:
      'The tool to ask, by its original name; else the one that fits each question best.',
  })
  @IsOptional()
  @IsString({ message: 'Input should be a string' })
  @MaxLength(255, { message: 'Must have at most 255 characters' })
  @IsCleanText()
  readonly tool?: string | null;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'The parameter of that tool which takes the question.',
  })
  @IsOptional()
  @IsString({ message: 'Input should be a string' })
  @MaxLength(255, { message: 'Must have at most 255 characters' })
  @IsCleanText()
  readonly argument?: string | null;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'What that tool is given besides.',
  })
  @IsOptional()
  @IsObject({ message: 'Input should be a JSON object' })
  readonly arguments?: JsonObject | null;

  @ApiPropertyOptional({ minimum: MIN_WEIGHT, maximum: MAX_WEIGHT, default: 1 })
  @IsOptional()
  @IsNumber({}, { message: 'Must be a number' })
  @Min(MIN_WEIGHT, { message: `Must be at least ${MIN_WEIGHT}` })
  @Max(MAX_WEIGHT, { message: `Must be at most ${MAX_WEIGHT}` })
  readonly weight?: number | null;
}

export class ServerSettingsView {
  @ApiProperty({ example: 'context7' })
  readonly name!: string;
  @ApiProperty()
  readonly enabled!: boolean;
  @ApiProperty({ type: String, nullable: true })
  readonly tool!: string | null;
  @ApiProperty({ type: String, nullable: true })
  readonly argument!: string | null;
  @ApiProperty({ type: 'object', additionalProperties: true })
  readonly arguments!: object;
  @ApiProperty()
  readonly weight!: number;
  @ApiProperty({ description: 'false: these are the defaults.' })
  readonly configured!: boolean;
}

export class ServerSettingsListView extends PageView {
  @ApiProperty({ type: [ServerSettingsView] })
  readonly servers!: ServerSettingsView[];
}

export function toServerSettings(dto: ServerSettingsDto): ServerSettings {
  return {
    enabled: dto.enabled ?? DEFAULT_SETTINGS.enabled,
    tool: dto.tool ?? DEFAULT_SETTINGS.tool,
    argument: dto.argument ?? DEFAULT_SETTINGS.argument,
    arguments: dto.arguments ?? DEFAULT_SETTINGS.arguments,
    weight: dto.weight ?? DEFAULT_SETTINGS.weight,
  };
}

export function toServerSettingsView(
  { name }: CatalogueServer,
  settings: ServerSettings | undefined,
): ServerSettingsView {
  return { name, ...(settings ?? DEFAULT_SETTINGS), configured: settings !== undefined };
}
