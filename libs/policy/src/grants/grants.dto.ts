import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsInt, IsOptional, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import { IsCleanText, MaxChars, PageQuery, PageView } from '@app/platform';
import { VIEW_SLUG } from '../views/view.js';
import {
  type Grant,
  type GrantLevel,
  grantLevels,
  type SubjectKind,
  subjectKinds,
} from './grant.js';

const TEN_YEARS_S = 315_360_000;
export const MAX_CALLS_PER_MINUTE = 1_000_000;

export class GiveGrantDto {
  @ApiProperty({
    enum: subjectKinds,
    description: 'A token by its name; a user, group or client as the JWT names it; or anyone.',
  })
  @IsIn(subjectKinds, { message: `A subject is one of ${subjectKinds.join(', ')}` })
  readonly subject_kind!: SubjectKind;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    example: 'ci',
    maxLength: 255,
    description: 'Not given for anyone.',
  })
  @IsOptional()
  @IsString({ message: 'Input should be a string' })
  @MaxChars(255, { message: 'Must have at most 255 characters' })
  @IsCleanText()
  readonly subject?: string | null;

  @ApiProperty({ example: 'support' })
  @IsString({ message: 'Input should be a string' })
  @Matches(VIEW_SLUG, { message: 'Must be the name of a view' })
  readonly view!: string;

  @ApiProperty({
    enum: grantLevels,
    description:
      'read lists, call_read_only offers and calls tools that are annotated read-only, call calls all.',
  })
  @IsIn(grantLevels, { message: `A level is one of ${grantLevels.join(', ')}` })
  readonly level!: GrantLevel;

  @ApiPropertyOptional({ type: 'integer', minimum: 60, maximum: TEN_YEARS_S, nullable: true })
  @IsOptional()
  @IsInt({ message: 'Must be a whole number of seconds' })
  @Min(60, { message: 'Must be at least 60' })
  @Max(TEN_YEARS_S, { message: `Must be at most ${TEN_YEARS_S}` })
  readonly expires_in_seconds?: number | null;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MAX_CALLS_PER_MINUTE,
    nullable: true,
  })
  @IsOptional()
  @IsInt({ message: 'Must be a whole number' })
  @Min(1, { message: 'Must be at least 1' })
  @Max(MAX_CALLS_PER_MINUTE, { message: `Must be at most ${MAX_CALLS_PER_MINUTE}` })
  readonly calls_per_minute?: number | null;
}

export class GrantsQuery extends PageQuery {
  @ApiPropertyOptional({ description: 'Only grants on this view.' })
  @IsOptional()
  @IsString({ message: 'Input should be a string' })
  @MaxLength(63, { message: 'Must have at most 63 characters' })
  readonly view?: string;
}

export class GrantView {
  @ApiProperty({ format: 'uuid' })
  readonly id!: string;
  @ApiProperty({ enum: subjectKinds })
  readonly subject_kind!: string;
  @ApiProperty({ type: String, nullable: true })
  readonly subject!: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'Whose user, group or client it is: the issuer that was configured when it was given. Null counts at every issuer.',
  })
  readonly issuer!: string | null;
  @ApiProperty()
  readonly view!: string;
  @ApiProperty({ enum: grantLevels })
  readonly level!: string;
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  readonly expires_at!: string | null;
  @ApiProperty({ type: Number, nullable: true })
  readonly calls_per_minute!: number | null;
  @ApiProperty()
  readonly created_by!: string;
  @ApiProperty({ format: 'date-time' })
  readonly created_at!: string;
}

export class GrantListView extends PageView {
  @ApiProperty({ type: [GrantView] })
  readonly grants!: GrantView[];
}

export function toGrantView(grant: Grant, view: string): GrantView {
  return {
    id: grant.id,
    subject_kind: grant.subjectKind,
    subject: grant.subjectKind === 'anyone' ? null : grant.subject,
    issuer: grant.issuer,
    view,
    level: grant.level,
    expires_at: grant.expiresAt?.toISOString() ?? null,
    calls_per_minute: grant.callsPerMinute,
    created_by: grant.createdBy,
    created_at: grant.createdAt.toISOString(),
  };
}
