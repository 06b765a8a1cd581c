import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, MaxLength } from 'class-validator';
import {
  type StatsGroup,
  statsGroups,
  type StatsWindow,
  statsWindows,
} from './call-stats.query.js';

export class StatsParams {
  @ApiPropertyOptional({ enum: statsWindows, default: '10m' })
  @IsOptional()
  @IsIn(statsWindows, { message: `A window is one of ${statsWindows.join(', ')}` })
  readonly window: StatsWindow = '10m';

  @ApiPropertyOptional({ description: 'The name or id of a server.', example: 'github-mcp' })
  @IsOptional()
  @MaxLength(255, { message: 'Must be the name or id of a server' })
  readonly server?: string;

  @ApiPropertyOptional({ description: 'As its server or this service names it.' })
  @IsOptional()
  @MaxLength(1_000, { message: 'Must be the name of a tool' })
  readonly tool?: string;

  @ApiPropertyOptional({ enum: statsGroups, description: 'One series for each; else one in all.' })
  @IsOptional()
  @IsIn(statsGroups, { message: `A group is one of ${statsGroups.join(', ')}` })
  readonly by?: StatsGroup;
}

const milliseconds = { type: 'number', nullable: true } as const;
const column = (description: string) =>
  ({ type: 'array', items: { type: 'integer' }, description }) as const;
const percentiles = {
  type: 'array',
  items: { type: 'number', nullable: true },
  description: 'Milliseconds, less than 26 % off.',
} as const;

/** Columns of equal length. */
export class StatsPointsView {
  @ApiProperty(column('Steps since `from`; steps without a call are left out.'))
  readonly t!: number[];
  @ApiProperty(column('Calls that ended within the step.'))
  readonly calls!: number[];
  @ApiProperty(column('Of these, those without an answer and those whose result says isError.'))
  readonly errors!: number[];
  @ApiProperty(percentiles)
  readonly p50!: (number | null)[];
  @ApiProperty(percentiles)
  readonly p95!: (number | null)[];
  @ApiProperty(percentiles)
  readonly p99!: (number | null)[];
}

export class StatsSeriesView {
  @ApiProperty({ type: String, format: 'uuid', nullable: true })
  readonly server_id!: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Null in all, and for a removed server.',
  })
  readonly server!: string | null;
  @ApiProperty({ type: String, nullable: true, description: 'Its name at the server.' })
  readonly tool!: string | null;
  @ApiProperty({ type: 'integer', description: 'In the window.' })
  readonly calls!: number;
  @ApiProperty({ type: 'integer' })
  readonly errors!: number;
  @ApiProperty(milliseconds)
  readonly p50_ms!: number | null;
  @ApiProperty(milliseconds)
  readonly p95_ms!: number | null;
  @ApiProperty(milliseconds)
  readonly p99_ms!: number | null;
  @ApiProperty()
  readonly points!: StatsPointsView;
}

export class StatsView {
  @ApiProperty({ enum: statsWindows })
  readonly window!: StatsWindow;
  @ApiProperty({
    type: 'integer',
    description: 'Longer with more series, so that the answer stays small.',
  })
  readonly step_seconds!: number;
  @ApiProperty({ format: 'date-time', description: 'The begin of step 0.' })
  readonly from!: string;
  @ApiProperty({ format: 'date-time' })
  readonly to!: string;
  @ApiProperty({
    format: 'date-time',
    description: 'Since when this replica counts; only days outlive a restart.',
  })
  readonly since!: string;
  @ApiProperty({ type: [StatsSeriesView], description: 'By calls, most first.' })
  readonly series!: StatsSeriesView[];
  @ApiProperty({
    type: 'integer',
    description: 'Series that are left out: those with the fewest calls.',
  })
  readonly left_out!: number;
  @ApiProperty({
    type: 'integer',
    description: 'Replicas that did not answer: their calls are missing.',
  })
  readonly replicas_missing!: number;
}
