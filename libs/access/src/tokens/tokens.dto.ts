import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { PageView, type Role, roleOf, roles, tokenScopes, type TokenScope } from '@app/platform';
import {
  ArrayNotEmpty,
  ArrayUnique,
  IsArray,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { type IssuedToken, TOKEN_NAME } from './issued-token.js';
import type { ListedToken } from './issued-token.store.js';
import { type ViewLevel, viewLevels } from './find-view.query.js';

const TEN_YEARS_S = 315_360_000;
const MONTH_S = 2_592_000;
const wholeSeconds = { message: 'Must be a whole number of seconds' };

export class IssueTokenDto {
  @ApiProperty({ example: 'ci', pattern: TOKEN_NAME.source })
  @IsString({ message: 'Input should be a string' })
  @Matches(TOKEN_NAME, { message: 'Must hold only letters, digits and . _ @ -, at most 100' })
  readonly name!: string;

  @ApiPropertyOptional({
    enum: roles,
    example: 'caller',
    description:
      'viewer lists and searches, caller also calls tools, operator also does daily work (connects servers, approves definitions), admin does all. Either this or `scopes`.',
  })
  @IsOptional()
  @IsIn(roles, { message: `A role is one of ${roles.join(', ')}` })
  readonly role?: Role | null;

  @ApiPropertyOptional({
    enum: tokenScopes,
    isArray: true,
    description: 'Each includes those before it. Either this or `role`.',
  })
  @IsOptional()
  @IsArray({ message: 'Input should be a list of scopes' })
  @ArrayNotEmpty({ message: 'Must name a scope' })
  @ArrayUnique({ message: 'Must name each scope once' })
  @IsIn(tokenScopes, { each: true, message: `A scope is one of ${tokenScopes.join(', ')}` })
  readonly scopes?: TokenScope[] | null;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 60,
    maximum: TEN_YEARS_S,
    description: 'Without it the token does not expire.',
  })
  @IsOptional()
  @IsInt(wholeSeconds)
  @Min(60, { message: 'Must be at least 60' })
  @Max(TEN_YEARS_S, { message: `Must be at most ${TEN_YEARS_S}` })
  readonly expires_in_seconds?: number | null;

  @ApiPropertyOptional({
    type: String,
    example: 'support',
    description: 'The only view that the token can use, at every address.',
  })
  @IsOptional()
  @IsString({ message: 'Input should be a string' })
  @MaxLength(63, { message: 'Must have at most 63 characters' })
  readonly view?: string | null;

  @ApiPropertyOptional({
    enum: viewLevels,
    default: 'call',
    description: 'How far the token reaches on that view.',
  })
  @IsOptional()
  @IsIn(viewLevels, { message: `A level is one of ${viewLevels.join(', ')}` })
  readonly level?: ViewLevel | null;
}

export class PinnedViewView {
  @ApiProperty({ format: 'uuid' })
  readonly view_id!: string;

  @ApiProperty({ enum: viewLevels })
  readonly level!: string;
}

export class RotateTokenDto {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: MONTH_S,
    default: 3_600,
    description: 'How long the secret before is accepted beside the new one.',
  })
  @IsOptional()
  @IsInt(wholeSeconds)
  @Min(0, { message: 'Must be at least 0' })
  @Max(MONTH_S, { message: `Must be at most ${MONTH_S}` })
  readonly overlap_seconds?: number | null;
}

export class TokenView {
  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'null for a token of the configuration, which is changed there.',
  })
  readonly id!: string | null;

  @ApiProperty({ example: 'ci' })
  readonly name!: string;

  @ApiProperty({ enum: roles, nullable: true, description: 'By the scope that reaches farthest.' })
  readonly role!: Role | null;

  @ApiProperty({ enum: tokenScopes, isArray: true })
  readonly scopes!: TokenScope[];

  @ApiProperty({
    type: PinnedViewView,
    nullable: true,
    description: 'The only view that it can use; null for those that are granted to it.',
  })
  readonly view!: PinnedViewView | null;

  @ApiProperty({ type: String, nullable: true })
  readonly created_by!: string | null;

  @ApiProperty({ format: 'date-time' })
  readonly created_at!: string;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  readonly expires_at!: string | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'To the minute; null if it was never used, and for tokens of the configuration.',
  })
  readonly last_used_at!: string | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Until when the secret before the last rotation is accepted.',
  })
  readonly previous_until!: string | null;
}

export class SecretTokenView extends TokenView {
  @ApiProperty({ description: 'The token itself, which is shown only this once.' })
  readonly token!: string;
}

export class InvitationView {
  @ApiProperty({ description: 'Works once: the first person who opens it chooses the password.' })
  readonly url!: string;

  @ApiProperty({ example: 'ada' })
  readonly name!: string;

  @ApiProperty({ format: 'date-time' })
  readonly expires_at!: string;
}

export class TokenListView extends PageView {
  @ApiProperty({ type: [TokenView] })
  readonly tokens!: TokenView[];
}

export const toTokenView = (token: ListedToken | IssuedToken): TokenView => fieldsOf(token);

export function toSecretTokenView(token: IssuedToken, secret: string): SecretTokenView {
  return { ...fieldsOf(token), token: secret };
}

function fieldsOf(token: ListedToken | IssuedToken) {
  return {
    id: token.id,
    name: token.name,
    role: roleOf(token.scopes) ?? null,
    scopes: [...token.scopes],
    view: token.view && { view_id: token.view.viewId, level: token.view.level },
    created_by: token.createdBy,
    created_at: token.createdAt.toISOString(),
    expires_at: token.expiresAt?.toISOString() ?? null,
    last_used_at: token.lastUsedAt?.toISOString() ?? null,
    previous_until: token.previousUntil?.toISOString() ?? null,
  };
}
