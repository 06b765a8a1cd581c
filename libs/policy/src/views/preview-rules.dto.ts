import { ApiProperty, ApiPropertyOptional, PickType } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import { PageQuery, PageView } from '@app/platform';
import { type GrantLevel, grantLevels } from '../grants/grant.js';
import { type RuledState, ruledStates } from './preview-rules.js';
import { VIEW_SLUG } from './view.js';
import { PreviewedToolView, ViewDto } from './views.dto.js';

export class PreviewRulesDto extends PickType(ViewDto, ['rules']) {
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    example: 'support',
    description: 'A view whose overrides apply; without it, those for every view.',
  })
  @IsOptional()
  @IsString({ message: 'Input should be a string' })
  @Matches(VIEW_SLUG, { message: 'Must be the name of a view' })
  readonly view?: string | null;

  @ApiPropertyOptional({
    enum: grantLevels,
    default: 'call',
    description: 'With call_read_only, tools that are not annotated read-only are left out.',
  })
  @IsOptional()
  @IsIn(grantLevels, { message: `A level is one of ${grantLevels.join(', ')}` })
  readonly level?: GrantLevel | null;
}

export class PreviewRulesQuery extends PageQuery {
  @ApiPropertyOptional({ enum: ruledStates })
  @IsOptional()
  @IsIn(ruledStates, { message: `A state is one of ${ruledStates.join(', ')}` })
  readonly state?: RuledState;

  @ApiPropertyOptional({ description: 'Part of the name `server.tool`.' })
  @IsOptional()
  @IsString({ message: 'Input should be a string' })
  @MaxLength(200, { message: 'Must have at most 200 characters' })
  readonly text?: string;
}

export class RuledToolView extends PickType(PreviewedToolView, [
  'id',
  'name',
  'server',
  'original_name',
]) {
  @ApiProperty({
    enum: ruledStates,
    description: 'held: offered once its definition is approved or its server is connected.',
  })
  readonly state!: string;
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Position of the rule that excludes it, or else of one that includes it, from 0.',
  })
  readonly rule!: number | null;
  @ApiProperty({ enum: ['rule', 'no_rule', 'level', 'withheld', 'server'] })
  readonly reason!: string;
}

export class RuleCountView {
  @ApiProperty({ description: 'Tools that the rule matches by itself.' })
  readonly matches!: number;
  @ApiProperty({
    description:
      'Tools that it adds to those of the including rules before it, or takes from all of them. The sum is what is offered or held at the level call.',
  })
  readonly adds!: number;
}

export class RulesPreviewView extends PageView {
  @ApiProperty({ type: [RuledToolView] })
  readonly tools!: RuledToolView[];
  @ApiProperty({ type: [RuleCountView], description: 'In the order of the rules.' })
  readonly rules!: readonly RuleCountView[];
  @ApiProperty()
  readonly offered!: number;
  @ApiProperty()
  readonly held!: number;
  @ApiProperty()
  readonly left_out!: number;
}
