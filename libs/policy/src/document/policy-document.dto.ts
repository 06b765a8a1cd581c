import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  IsBoolean,
  IsIn,
  IsInt,
  IsISO8601,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
} from 'class-validator';
import { IsCleanText, MaxChars, ToFlag } from '@app/platform';
import { type GrantLevel, grantLevels } from '../grants/grant.js';
import { MAX_CALLS_PER_MINUTE } from '../grants/grants.dto.js';

export class DocumentGrantDto {
  @IsString({ message: 'Input should be a string' })
  @MaxChars(262, { message: 'Must name the subject in at most 255 characters' })
  @IsCleanText()
  @Matches(/^(?:anyone|(?:token|user|client|group):.{1,255})$/su, {
    message: 'Must be anyone, or token:, user:, client: or group: with a name',
  })
  readonly subject!: string;

  @IsIn(grantLevels, { message: `A level is one of ${grantLevels.join(', ')}` })
  readonly level!: GrantLevel;

  @IsOptional()
  @IsString({ message: 'Input should be a string' })
  @Matches(/^\d{4}-\d\d-\d\dT\d\d:\d\d.*(?:Z|[+-]\d\d:?\d\d)$/, {
    message: 'Must be a date and time with its zone, such as 2027-01-31T12:00:00Z',
  })
  @IsISO8601(
    { strict: true, strictSeparator: true },
    { message: 'Must be a date and time with its zone, such as 2027-01-31T12:00:00Z' },
  )
  readonly expires_at?: string | null;

  @IsOptional()
  @IsInt({ message: 'Must be a whole number' })
  @Min(1, { message: 'Must be at least 1' })
  @Max(MAX_CALLS_PER_MINUTE, { message: `Must be at most ${MAX_CALLS_PER_MINUTE}` })
  readonly calls_per_minute?: number | null;
}

export class ImportPolicyQuery {
  @ApiPropertyOptional({
    description:
      'Also remove what the document does not have: other views, other grants and overrides of its views, other overrides for every view. The default view stays as it is unless the document has it.',
  })
  @ToFlag()
  @IsOptional()
  @IsBoolean({ message: 'Must be true or false' })
  readonly prune?: boolean;
}

const views = {
  support: {
    rules: [{ effect: 'include', server: 'github', name: 'get_*' }],
    grants: [{ subject: 'group:support', level: 'call_read_only' }],
    overrides: { 'github.get_issue': { preset_arguments: { owner: 'acme' } } },
  },
};

/** Read by `readPolicyDocument`, since its members have names that users chose. */
export class PolicyDocumentDto {
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    example: views,
    description:
      'By name: each as in PUT …/views/{slug}, with `grants` (`subject`, `level`, `expires_at`, `calls_per_minute`) and `overrides` by `server.tool`.',
  })
  readonly views?: object;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'Overrides for every view, by `server.tool`, which need not be discovered yet.',
  })
  readonly overrides?: object;
}

export class PolicyDocumentView {
  @ApiProperty({ type: 'object', additionalProperties: true, example: views })
  readonly views!: object;

  @ApiProperty({ type: 'object', additionalProperties: true })
  readonly overrides!: object;
}

export class RefusedPartView {
  @ApiProperty({ example: 'views.support.rules.0.server' })
  readonly place!: string;
  @ApiProperty()
  readonly reason!: string;
}

export class PolicyOutcomeView {
  @ApiProperty({ type: [String], example: ['views.support'] })
  readonly changed!: readonly string[];
  @ApiProperty({ type: [String] })
  readonly removed!: readonly string[];
  @ApiProperty({ description: 'Parts that were as the document has them already.' })
  readonly unchanged!: number;
  @ApiProperty({ type: [RefusedPartView], description: 'Parts that were left as they were.' })
  readonly refused!: readonly RefusedPartView[];
}
