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
  Min,
  MinLength,
  ValidateNested,
} from 'class-validator';
import type { CatalogueServer } from '@app/catalogue';
import {
  IsCleanText,
  type JsonObject,
  MAX_NAMED_SERVERS,
  MAX_SERVER_NAME_CHARS,
  PageView,
  MaxChars,
} from '@app/platform';
import type { QueryRule } from '../choose/query-rule.js';
import { DEFAULT_SETTINGS, type ServerQuerySettings } from './server-query-settings.js';
import { MAX_PATTERN_CHARS, MAX_RULES, MAX_WEIGHT, MIN_WEIGHT } from './settings-limits.js';

export class QueryRuleDto implements QueryRule {
  @ApiProperty({
    maxLength: MAX_PATTERN_CHARS,
    example: 'documentation|docs|library',
    description: 'RE2 syntax, ignoring case.',
  })
  @IsString({ message: 'Input should be a string' })
  @MinLength(1, { message: 'Must not be empty' })
  @MaxChars(MAX_PATTERN_CHARS, { message: `Must have at most ${MAX_PATTERN_CHARS} characters` })
  @IsCleanText()
  readonly pattern!: string;

  @ApiProperty({ type: [String], example: ['context7'], description: 'Names of servers.' })
  @IsArray({ message: 'Must be a list of server names' })
  @ArrayNotEmpty({ message: 'Must name at least one server' })
  @ArrayMaxSize(MAX_NAMED_SERVERS, { message: `Must name at most ${MAX_NAMED_SERVERS} servers` })
  @IsString({ each: true, message: 'Must be a list of server names' })
  @MaxChars(MAX_SERVER_NAME_CHARS, {
    each: true,
    message: `A server name has at most ${MAX_SERVER_NAME_CHARS} characters`,
  })
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
  @ApiProperty({ type: [QueryRuleDto], description: 'Rules in order; the first match decides.' })
  readonly rules!: QueryRule[];
}

export class ServerSettingsDto {
  @ApiPropertyOptional({
    type: Boolean,
    nullable: true,
    default: true,
    description: 'false: the server is never queried.',
  })
  @IsOptional()
  @IsBoolean({ message: 'Must be true or false' })
  readonly enabled?: boolean | null;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'Original name of the tool to call; by default the best tool for each query.',
  })
  @IsOptional()
  @IsString({ message: 'Input should be a string' })
  @MaxChars(255, { message: 'Must have at most 255 characters' })
  @IsCleanText()
  readonly tool?: string | null;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'The parameter of that tool that takes the query.',
  })
  @IsOptional()
  @IsString({ message: 'Input should be a string' })
  @MaxChars(255, { message: 'Must have at most 255 characters' })
  @IsCleanText()
  readonly argument?: string | null;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'Additional arguments of that tool.',
  })
  @IsOptional()
  @IsObject({ message: 'Input should be a JSON object' })
  readonly arguments?: JsonObject | null;

  @ApiPropertyOptional({
    type: Number,
    nullable: true,
    minimum: MIN_WEIGHT,
    maximum: MAX_WEIGHT,
    default: 1,
  })
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
  @ApiProperty({ description: 'False when the server has the defaults.' })
  readonly configured!: boolean;
}

export class ServerSettingsListView extends PageView {
  @ApiProperty({ type: [ServerSettingsView] })
  readonly servers!: ServerSettingsView[];
}

export function toServerSettings(dto: ServerSettingsDto): ServerQuerySettings {
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
  settings: ServerQuerySettings | undefined,
): ServerSettingsView {
  return { name, ...(settings ?? DEFAULT_SETTINGS), configured: settings !== undefined };
}
