import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
  ValidateNested,
} from 'class-validator';
import type { CatalogueServer } from '@app/catalogue';
import {
  IsCleanText,
  MaxChars,
  MaxKeys,
  MAX_SERVER_NAME_CHARS,
  PageQuery,
  PageView,
  MIN_RESULT_TOKENS,
} from '@app/platform';
import { SUBJECT } from '../decide/explained-caller.js';
import {
  MAX_RULES,
  type RuleAnnotation,
  ruleAnnotations,
  type RuleEffect,
  ruleEffects,
  type RuleKind,
  ruleKinds,
  type View,
  VIEW_SLUG,
} from './view.js';
import { type GivenRule, type GivenView, ruleDocument } from './view-document.js';

const MAX_BUDGET = 10_000_000;
const text = { message: 'Input should be a string' };

export class ViewRuleDto implements GivenRule {
  @ApiPropertyOptional({ enum: ruleEffects, default: 'include' })
  @IsOptional()
  @IsIn(ruleEffects, { message: `An effect is one of ${ruleEffects.join(', ')}` })
  readonly effect?: RuleEffect | null;

  @ApiPropertyOptional({ enum: ruleKinds, default: 'any', description: 'Templates are resources.' })
  @IsOptional()
  @IsIn(ruleKinds, { message: `A kind is one of ${ruleKinds.join(', ')}` })
  readonly kind?: RuleKind | null;

  @ApiPropertyOptional({ type: String, nullable: true, description: 'Name of a server.' })
  @IsOptional()
  @IsString(text)
  @MinLength(1, { message: 'Must not be empty' })
  @MaxChars(MAX_SERVER_NAME_CHARS, {
    message: `Must have at most ${MAX_SERVER_NAME_CHARS} characters`,
  })
  @IsCleanText()
  readonly server?: string | null;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    example: 'get_*',
    description:
      'Of the name of a tool or prompt at its server, or of a URI; `*` stands for any text.',
  })
  @IsOptional()
  @IsString(text)
  @MinLength(1, { message: 'Must not be empty' })
  @MaxChars(500, { message: 'Must have at most 500 characters' })
  @Matches(/^(?:[^*]*\*){0,10}[^*]*$/, { message: 'Must have at most 10 stars' })
  @IsCleanText()
  readonly name?: string | null;

  @ApiPropertyOptional({ type: String, nullable: true, description: 'Id of a skill.' })
  @IsOptional()
  @IsString(text)
  @MinLength(1, { message: 'Must not be empty' })
  @MaxChars(255, { message: 'Must have at most 255 characters' })
  @IsCleanText()
  readonly skill?: string | null;

  @ApiPropertyOptional({ enum: ruleAnnotations, nullable: true })
  @IsOptional()
  @IsIn(ruleAnnotations, { message: `An annotation is one of ${ruleAnnotations.join(', ')}` })
  readonly annotation?: RuleAnnotation | null;
}

/** Every member of every rule, and those of the view. */
const MAX_KEYS = 6 * MAX_RULES + 10;

@MaxKeys(MAX_KEYS)
export class ViewDto implements GivenView {
  @ApiPropertyOptional({ type: String, nullable: true, maxLength: 200 })
  @IsOptional()
  @IsString(text)
  @MaxChars(200, { message: 'Must have at most 200 characters' })
  @IsCleanText()
  readonly title?: string | null;

  @ApiPropertyOptional({ type: String, nullable: true, maxLength: 4_000 })
  @IsOptional()
  @IsString(text)
  @MaxChars(4_000, { message: 'Must have at most 4000 characters' })
  @IsCleanText()
  readonly description?: string | null;

  @ApiPropertyOptional({
    type: 'integer',
    nullable: true,
    minimum: MIN_RESULT_TOKENS,
    maximum: MAX_BUDGET,
    description: 'Results of tools beyond it are shortened.',
  })
  @IsOptional()
  @IsInt({ message: 'Must be a whole number' })
  @Min(MIN_RESULT_TOKENS, { message: `Must be at least ${MIN_RESULT_TOKENS}` })
  @Max(MAX_BUDGET, { message: `Must be at most ${MAX_BUDGET}` })
  readonly budget_tokens?: number | null;

  @ApiProperty({
    type: [ViewRuleDto],
    maxItems: MAX_RULES,
    description:
      'Offered is what a rule includes and none excludes. Their order does not matter; without rules nothing is offered.',
  })
  @IsArray({ message: 'Must be a list of rules' })
  @ArrayMaxSize(MAX_RULES, { message: `Must have at most ${MAX_RULES} rules` })
  @ValidateNested({ each: true })
  @Type(() => ViewRuleDto)
  readonly rules!: ViewRuleDto[];
}

export class CreateViewDto extends ViewDto {
  @ApiProperty({ example: 'support', pattern: VIEW_SLUG.source })
  @IsString(text)
  @Matches(VIEW_SLUG, {
    message: 'Must have lower-case letters, digits and -, at most 63, and begin with no -',
  })
  readonly slug!: string;
}

export class CloneViewDto {
  @ApiProperty({ example: 'support-2', pattern: VIEW_SLUG.source })
  @IsString(text)
  @Matches(VIEW_SLUG, {
    message: 'Must have lower-case letters, digits and -, at most 63, and begin with no -',
  })
  readonly slug!: string;
}

export class PreviewPageQuery extends PageQuery {
  @ApiPropertyOptional({
    example: 'group:support',
    description: '`token:…`, `user:…`, `client:…`, `group:…` or `anyone`; by default every caller.',
  })
  @IsOptional()
  @IsString(text)
  @MaxLength(300, { message: 'Must have at most 300 characters' })
  @Matches(SUBJECT, {
    message: 'Must be anyone, or token:, user:, client: or group: with a name',
  })
  readonly as?: string;
}

export class ViewRuleView {
  @ApiProperty({ enum: ruleEffects })
  readonly effect!: string;
  @ApiPropertyOptional({ enum: ruleKinds })
  readonly kind?: string;
  @ApiPropertyOptional()
  readonly server?: string;
  @ApiPropertyOptional()
  readonly name?: string;
  @ApiPropertyOptional()
  readonly skill?: string;
  @ApiPropertyOptional({ enum: ruleAnnotations })
  readonly annotation?: string;
}

export class ViewView {
  @ApiProperty({ format: 'uuid' })
  readonly id!: string;
  @ApiProperty({ example: 'support' })
  readonly slug!: string;
  @ApiProperty({ type: String, nullable: true })
  readonly title!: string | null;
  @ApiProperty({ type: String, nullable: true })
  readonly description!: string | null;
  @ApiProperty({ type: Number, nullable: true })
  readonly budget_tokens!: number | null;
  @ApiProperty({ type: [ViewRuleView] })
  readonly rules!: object[];
  @ApiProperty({ format: 'date-time' })
  readonly created_at!: string;
  @ApiProperty({ format: 'date-time' })
  readonly updated_at!: string;
}

export class ViewListView extends PageView {
  @ApiProperty({ type: [ViewView] })
  readonly views!: ViewView[];
}

export class PreviewedToolView {
  @ApiProperty({ example: 12 })
  readonly id!: number;
  @ApiProperty({ description: 'The name that clients see and call.' })
  readonly name!: string;
  @ApiProperty()
  readonly server!: string;
  @ApiProperty({ description: 'Its name at the server.' })
  readonly original_name!: string;
  @ApiProperty({ type: ViewRuleView, nullable: true, description: 'The rule that includes it.' })
  readonly rule!: object | null;
}

export class PreviewView extends PageView {
  @ApiProperty({ type: [PreviewedToolView] })
  readonly tools!: PreviewedToolView[];
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The level of the subject; null without a grant.',
  })
  readonly level!: string | null;
}

export function toViewView(
  view: View,
  servers: ReadonlyMap<string, Pick<CatalogueServer, 'name'>>,
): ViewView {
  return {
    id: view.id,
    slug: view.slug,
    title: view.title,
    description: view.description,
    budget_tokens: view.budgetTokens,
    rules: view.rules.map((rule) => ruleDocument(rule, servers)),
    created_at: view.createdAt.toISOString(),
    updated_at: view.updatedAt.toISOString(),
  };
}
