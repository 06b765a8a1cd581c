import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { MaxChars, type Role, roles, type TokenScope, tokenScopes } from '@app/platform';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayNotEmpty,
  ArrayUnique,
  IsArray,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { grantLevels } from '../grants/grant.js';
import { ViewRuleView } from '../views/views.dto.js';
import { deciders } from './access-explainer.js';
import { MAX_SUBJECTS, SUBJECT } from './explained-caller.js';

const subject = { message: 'Must be anyone, or token:, user:, client: or group: with a name' };

export class ExplainDto {
  @ApiPropertyOptional({
    type: String,
    example: 'token:ci',
    description:
      '`token:…`, `user:…`, `client:…`, `group:…` or `anyone`. Either this or `subjects`.',
  })
  @IsOptional()
  @IsString({ message: 'Input should be a string' })
  @MaxLength(300, { message: 'Must have at most 300 characters' })
  @Matches(SUBJECT, subject)
  readonly subject?: string | null;

  @ApiPropertyOptional({
    type: [String],
    example: ['user:ada', 'group:crew'],
    description: 'All subjects of one caller, such as a user and its groups.',
  })
  @IsOptional()
  @IsArray({ message: 'Must be a list of subjects' })
  @ArrayNotEmpty({ message: 'Must name a subject' })
  @ArrayMaxSize(MAX_SUBJECTS, { message: `Must have at most ${MAX_SUBJECTS} subjects` })
  @ArrayUnique({ message: 'Must name each subject once' })
  @MaxLength(300, { each: true, message: 'A subject has at most 300 characters' })
  @Matches(SUBJECT, { each: true, ...subject })
  readonly subjects?: string[] | null;

  @ApiProperty({ example: 'support' })
  @IsString({ message: 'Input should be a string' })
  @MaxLength(63, { message: 'Must have at most 63 characters' })
  readonly view!: string;

  @ApiPropertyOptional({
    type: 'integer',
    description: 'Id of a tool. Either this or `tool_name`.',
  })
  @IsOptional()
  @IsInt({ message: 'Must be the id of a tool' })
  @Min(1, { message: 'Must be the id of a tool' })
  readonly tool?: number | null;

  @ApiPropertyOptional({
    type: String,
    example: 'github.get_issue',
    description: 'Server and name of a tool, also of one that is withheld.',
  })
  @IsOptional()
  @IsString({ message: 'Input should be a string' })
  @MaxChars(500, { message: 'Must have at most 500 characters' })
  readonly tool_name?: string | null;
}

export class ExplanationView {
  @ApiProperty()
  readonly is_listed!: boolean;
  @ApiProperty()
  readonly is_callable!: boolean;
  @ApiProperty({ enum: deciders })
  readonly decided_by!: string;
  @ApiProperty()
  readonly message!: string;
  @ApiProperty({ type: ViewRuleView, nullable: true })
  readonly rule!: object | null;
  @ApiProperty({ type: String, nullable: true })
  readonly grant_id!: string | null;
  @ApiProperty({ enum: grantLevels, nullable: true })
  readonly level!: string | null;
  @ApiProperty({ type: String, nullable: true, description: 'The name under which it is offered.' })
  readonly offered_as!: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Of a tool that is withheld: what approves it.',
  })
  readonly approval_id!: string | null;
}

export class OwnViewView {
  @ApiProperty({ type: String, nullable: true, description: 'null: it was deleted.' })
  readonly slug!: string | null;
  @ApiProperty({ enum: grantLevels })
  readonly level!: string;
}

export class MeView {
  @ApiProperty({
    example: 'ci',
    description: 'As in the audit log: of a token its name, of a JWT with a prefix.',
  })
  readonly name!: string;
  @ApiProperty({ enum: roles, nullable: true, description: 'By the scope that reaches farthest.' })
  readonly role!: Role | null;
  @ApiProperty({ enum: tokenScopes, isArray: true, description: 'Also those that are included.' })
  readonly scopes!: TokenScope[];
  @ApiProperty({ type: [String], example: ['token:ci'], description: 'What grants are given to.' })
  readonly subjects!: string[];
  @ApiProperty({
    type: OwnViewView,
    nullable: true,
    description: 'The only view of the token, at every address; null for those that are granted.',
  })
  readonly view!: OwnViewView | null;
  @ApiProperty({
    description: 'Whether the routes that tell of all servers and tools answer this caller.',
  })
  readonly sees_all!: boolean;
}

export class HistoryQuery {
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 200, default: 50 })
  @IsOptional()
  @Type(() => Number)
  @IsInt({ message: 'Must be a whole number' })
  @Min(1, { message: 'Must be at least 1' })
  @Max(200, { message: 'Must be at most 200' })
  readonly limit: number = 50;

  @ApiPropertyOptional({ description: 'Only entries older than the one with this id.' })
  @IsOptional()
  @Matches(/^[1-9]\d{0,17}$/, { message: 'Must be the id of an entry' })
  readonly before?: string;
}

export class PolicyHistoryEntryView {
  @ApiProperty()
  readonly id!: string;
  @ApiProperty({ example: 'view.saved' })
  readonly change!: string;
  @ApiProperty({ example: 'support' })
  readonly subject!: string;
  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true })
  readonly before!: object | null;
  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true })
  readonly after!: object | null;
  @ApiProperty()
  readonly actor!: string;
  @ApiProperty({ format: 'date-time' })
  readonly created_at!: string;
}

export class PolicyHistoryView {
  @ApiProperty({ type: [PolicyHistoryEntryView] })
  readonly entries!: PolicyHistoryEntryView[];
}
