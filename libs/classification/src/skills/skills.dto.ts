import { ApiProperty, ApiPropertyOptional, PartialType, OmitType } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsOptional,
  IsString,
  Matches,
  MinLength,
} from 'class-validator';
import {
  Cursor,
  CursorPageView,
  CursorQuery,
  isCleanText,
  IsCleanText,
  PageQuery,
  PageView,
  ToFlag,
  MaxChars,
} from '@app/platform';
import type { AssignedSkills } from '../classify/assignment.store.js';
import { type Assignment, MAX_SKILLS_PER_TOOL, SKILL_ID } from './skill.js';
import type { CountedSkill } from './skill.store.js';
import { type Suggestion, type SuggestionStatus, suggestionStatuses } from './suggestion.store.js';

const text = { message: 'Input should be a string' };

export class CreateSkillDto {
  @ApiProperty({ example: 'issue_tracking', pattern: SKILL_ID.source })
  @IsString(text)
  @Matches(SKILL_ID, {
    message: 'Must start with a letter and hold only a-z, 0-9 and _, at most 64 of them',
  })
  readonly id!: string;

  @ApiProperty({ example: 'Issue tracking', maxLength: 255 })
  @IsString(text)
  @MinLength(1, { message: 'Must not be empty' })
  @MaxChars(255, { message: 'Must have at most 255 characters' })
  @IsCleanText()
  readonly name!: string;

  @ApiProperty({ example: 'Create, search and change issues and tickets', maxLength: 2000 })
  @IsString(text)
  @MaxChars(2000, { message: 'Must have at most 2000 characters' })
  @IsCleanText()
  readonly description!: string;

  @ApiPropertyOptional({
    type: [String],
    example: ['create an issue, comment on a ticket, list open bugs'],
    description: 'Sentences such as a tool of this skill would say of itself.',
  })
  @IsOptional()
  @IsArray({ message: 'Input should be a list of sentences' })
  @ArrayMaxSize(50, { message: 'Must have at most 50 sentences' })
  @IsString({ each: true, message: 'Every sentence should be a string' })
  @MaxChars(1000, { each: true, message: 'A sentence has at most 1000 characters' })
  @IsCleanText({ each: true })
  readonly prototypes?: string[];
}

export class UpdateSkillDto extends PartialType(OmitType(CreateSkillDto, ['id'] as const)) {
  @ApiPropertyOptional({ description: 'false takes the skill from all tools.' })
  @IsOptional()
  @IsBoolean({ message: 'Input should be true or false' })
  readonly is_active?: boolean;
}

export class ListSkillsQuery extends PageQuery {
  @ApiPropertyOptional({ default: false })
  @ToFlag()
  @IsOptional()
  @IsBoolean({ message: 'Must be true or false' })
  readonly include_inactive: boolean = false;
}

export class ListSuggestionsQuery extends CursorQuery {
  @ApiPropertyOptional({ enum: suggestionStatuses })
  @IsOptional()
  @IsIn(suggestionStatuses, { message: `Must be one of ${suggestionStatuses.join(', ')}` })
  readonly status?: SuggestionStatus;
}

export class OverrideSkillsDto {
  @ApiProperty({
    type: [String],
    example: ['version_control'],
    description: 'One to three, the primary one first.',
  })
  @IsArray({ message: 'Input should be a list of skill ids' })
  @ArrayMinSize(1, { message: 'Must name at least one skill' })
  @ArrayMaxSize(MAX_SKILLS_PER_TOOL, { message: `Must name at most ${MAX_SKILLS_PER_TOOL} skills` })
  @ArrayUnique({ message: 'Must not name a skill twice' })
  @IsString({ each: true, message: 'Every skill id should be a string' })
  readonly skill_ids!: string[];
}

export class SkillView {
  @ApiProperty({ example: 'version_control' })
  readonly id!: string;
  @ApiProperty({ example: 'Version control & repos' })
  readonly name!: string;
  @ApiProperty()
  readonly description!: string;
  @ApiProperty({ type: [String] })
  readonly prototypes!: readonly string[];
  @ApiProperty()
  readonly is_active!: boolean;
  @ApiProperty({ example: 12 })
  readonly tool_count!: number;
}

export class SkillListView extends PageView {
  @ApiProperty({ type: [SkillView] })
  readonly skills!: SkillView[];
}

export class SkillToolView {
  @ApiProperty({ example: '1' })
  readonly id!: string;
  @ApiProperty({ example: 'github-mcp.create_issue' })
  readonly name!: string;
  @ApiProperty({ example: 'Create a new GitHub issue' })
  readonly description!: string;
  @ApiProperty({ minimum: 0, maximum: 1, example: 0.87 })
  readonly confidence!: number;
  @ApiProperty()
  readonly is_primary!: boolean;
}

export class ToolSkillView {
  @ApiProperty({ example: 'version_control' })
  readonly id!: string;
  @ApiProperty({ minimum: 0, maximum: 1, example: 0.87 })
  readonly confidence!: number;
}

export class ToolSkillsView {
  @ApiProperty({ example: '1' })
  readonly tool_id!: string;
  @ApiProperty({ type: [ToolSkillView], description: 'The primary one first.' })
  readonly skills!: ToolSkillView[];
  @ApiProperty({
    type: [ToolSkillView],
    description:
      'For a tool without skills, the likeliest ones with a confidence below 0.5, highest first. PUT assigns them.',
  })
  readonly suggested_skills!: ToolSkillView[];
  @ApiProperty({ type: String, nullable: true, example: 'local:static-256-3a22ae0c0086' })
  readonly classified_by!: string | null;
  @ApiProperty({ description: 'Set by hand; no classifier changes it.' })
  readonly is_override!: boolean;
}

export class SkillToolsView extends PageView {
  @ApiProperty({ type: [SkillToolView] })
  readonly tools!: SkillToolView[];
}

export class SuggestionView {
  @ApiProperty({ example: 1 })
  readonly id!: number;
  @ApiProperty({ example: 'Astrology' })
  readonly name!: string;
  @ApiProperty()
  readonly description!: string;
  @ApiProperty({ type: [String], description: 'Tools that had no better skill.' })
  readonly tool_ids!: string[];
  @ApiProperty({ example: 'anthropic:claude-haiku-4-5' })
  readonly suggested_by!: string;
  @ApiProperty({ enum: suggestionStatuses })
  readonly status!: SuggestionStatus;
  @ApiProperty({ format: 'date-time' })
  readonly created_at!: string;
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  readonly reviewed_at!: string | null;
  @ApiProperty({ type: String, nullable: true })
  readonly reviewed_by!: string | null;
}

export class SuggestionListView extends CursorPageView {
  @ApiProperty({ type: [SuggestionView] })
  readonly suggestions!: SuggestionView[];
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Where the others are when there is no room for more suggestions.',
  })
  readonly note!: string | null;
}

export class ReviewView {
  @ApiProperty({ example: 'APPROVED' })
  readonly status!: string;
  @ApiProperty({ type: String, nullable: true, description: 'The new skill, when approved.' })
  readonly skill_id!: string | null;
}

export const suggestionCursor = new Cursor<Suggestion>(
  'suggestions',
  ({ name }) => name,
  (key) => key !== '' && isCleanText(key),
);

export function toSkillView(skill: CountedSkill): SkillView {
  const { id, name, description, prototypes, isActive, toolCount } = skill;
  return { id, name, description, prototypes, is_active: isActive, tool_count: toolCount };
}

export interface SkillTool {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly confidence: number;
  readonly isPrimary: boolean;
}

export function toSkillToolView(tool: SkillTool): SkillToolView {
  const { id, name, description, confidence, isPrimary } = tool;
  return {
    id: String(id),
    name,
    description,
    // Stored as a 4-byte float: further digits are noise.
    confidence: Number(confidence.toFixed(4)),
    is_primary: isPrimary,
  };
}

export function toToolSkillsView(toolId: number, found: AssignedSkills): ToolSkillsView {
  return {
    tool_id: String(toolId),
    skills: found.skills.map(toToolSkillView),
    suggested_skills: found.unsure.map(toToolSkillView),
    classified_by: found.classifiedBy,
    is_override: found.isOverride,
  };
}

function toToolSkillView({ skillId, confidence }: Assignment): ToolSkillView {
  return { id: skillId, confidence: Number(confidence.toFixed(4)) };
}

export function toSuggestionView(suggestion: Suggestion): SuggestionView {
  return {
    id: suggestion.id,
    name: suggestion.name,
    description: suggestion.description,
    tool_ids: suggestion.toolIds.map(String),
    suggested_by: suggestion.suggestedBy,
    status: suggestion.status,
    created_at: suggestion.createdAt.toISOString(),
    reviewed_at: suggestion.reviewedAt?.toISOString() ?? null,
    reviewed_by: suggestion.reviewedBy,
  };
}
