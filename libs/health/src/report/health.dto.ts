import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { SERVICE_NAME } from '@app/platform';
import type { HealthReport } from './health-report.js';

export class HealthChecksView {
  @ApiProperty({ enum: ['ok', 'down'] })
  readonly database!: HealthReport['checks']['database'];

  @ApiProperty({ enum: ['ok', 'down', 'embedded'] })
  readonly qdrant!: HealthReport['checks']['qdrant'];

  @ApiProperty({ enum: ['ok', 'degraded', 'unknown'] })
  readonly sessions!: HealthReport['checks']['sessions'];
}

export class ServerCountsView {
  @ApiProperty({ example: 5 })
  readonly total!: number;

  @ApiProperty({ example: 2 })
  readonly connected!: number;

  @ApiProperty({ example: 3 })
  readonly error!: number;
}

/** The health report for the API description. */
export class HealthView implements HealthReport {
  @ApiProperty({ enum: ['healthy', 'degraded', 'unhealthy'] })
  readonly status!: HealthReport['status'];

  @ApiProperty()
  readonly checks!: HealthChecksView;

  @ApiPropertyOptional()
  readonly servers?: ServerCountsView;

  @ApiPropertyOptional({ type: [String], example: ['3 servers in error state'] })
  readonly issues?: string[];

  @ApiProperty({ example: SERVICE_NAME })
  readonly service!: string;
}

export class LivenessView {
  @ApiProperty({ enum: ['ok'] })
  readonly status!: 'ok';
}

/** One member per indicator, named after what it checks. */
export const readinessSchema = {
  type: 'object',
  additionalProperties: {
    type: 'object',
    required: ['status'],
    properties: {
      status: { type: 'string', enum: ['up', 'down'] },
      message: { type: 'string' },
    },
  },
  example: { database: { status: 'up' } },
};
