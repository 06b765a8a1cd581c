import { Controller, Get, Res } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { HealthCheck } from '@nestjs/terminus';
import { Public } from '@app/access';
import { SERVICE_NAME } from '@app/platform';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { HealthChecks } from '../check/health-checks.js';
import { HealthView, LivenessView, readinessSchema } from './health.dto.js';
import {
  DatabaseIndicator,
  QdrantIndicator,
  ReadinessIndicator,
  ServersIndicator,
  StoppingIndicator,
} from './health-indicators.js';
import { type HealthReport, healthReport, NO_ANSWER } from './health-report.js';

const RETRY_AFTER_S = 5;

/** The details that indicators add to their status. */
const findings = z.object({
  database: z.object({ message: z.string().optional() }),
  qdrant: z.object({ state: z.enum(['ok', 'down', 'embedded']) }),
  servers: z.object({
    rows: z
      .array(
        z.object({
          name: z.string(),
          status: z.string(),
          wanted: z.boolean(),
          isUnlisted: z.boolean(),
        }),
      )
      .optional(),
    unauthorized: z.number().optional(),
  }),
});

const examples = {
  healthy: {
    status: 'healthy',
    checks: { database: 'ok', qdrant: 'ok', sessions: 'ok' },
    servers: { total: 5, connected: 4, error: 1 },
    service: SERVICE_NAME,
  },
  degraded: {
    status: 'degraded',
    checks: { database: 'ok', qdrant: 'ok', sessions: 'degraded' },
    servers: { total: 5, connected: 2, error: 3 },
    issues: ['3 servers in error state', 'only 2 of 5 servers that should be connected are'],
    service: SERVICE_NAME,
  },
  unhealthy: {
    status: 'unhealthy',
    checks: { database: 'down', qdrant: 'ok', sessions: 'unknown' },
    issues: [NO_ANSWER],
    service: SERVICE_NAME,
  },
};

@ApiTags('health')
@Public()
@Controller(['health', 'api/v1/aggregator/health'])
export class HealthController {
  constructor(
    private readonly checks: HealthChecks,
    private readonly database: DatabaseIndicator,
    private readonly qdrant: QdrantIndicator,
    private readonly servers: ServersIndicator,
    private readonly stopping: StoppingIndicator,
    private readonly readiness: ReadinessIndicator,
  ) {}

  @Get()
  @HealthCheck({ noCache: true, swaggerDocumentation: false })
  @ApiOperation({
    summary: 'Health of the service and of its servers; 503 when rows cannot be read or written',
  })
  @ApiResponse({
    status: 200,
    description: 'healthy or degraded',
    type: HealthView,
    example: examples.healthy,
  })
  @ApiResponse({
    status: 503,
    description: 'unhealthy',
    type: HealthView,
    example: examples.unhealthy,
  })
  async getHealth(
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<HealthReport & { service: string }> {
    const { details, isUp } = await this.checks.run([
      () => this.database.check(),
      () => this.qdrant.check(),
      () => this.servers.check(),
    ]);
    const { database, qdrant, servers } = findings.parse(details);
    answerWith(reply, isUp);
    return {
      ...healthReport(servers.rows, qdrant.state, servers.unauthorized, database.message),
      service: SERVICE_NAME,
    };
  }

  @Get('live')
  @HealthCheck({ noCache: true, swaggerDocumentation: false })
  @ApiOperation({ summary: 'Liveness probe: 200 while the process answers' })
  @ApiResponse({ status: 200, type: LivenessView })
  async getLiveness(): Promise<{ status: 'ok' }> {
    // Runs no indicator: a failed dependency is no reason to restart the service.
    await this.checks.run([]);
    return { status: 'ok' };
  }

  @Get('ready')
  @HealthCheck({ noCache: true, swaggerDocumentation: false })
  @ApiOperation({
    summary:
      'Whether requests can be served: rows can be read and written, or could ten seconds ago, and the service is not stopping',
  })
  @ApiResponse({ status: 200, description: 'ready', schema: readinessSchema })
  @ApiResponse({ status: 503, description: 'not ready', schema: readinessSchema })
  async getReadiness(@Res({ passthrough: true }) reply: FastifyReply): Promise<object> {
    const running = await this.checks.run([() => this.stopping.check()]);
    const checked = running.isUp ? await this.checks.run([() => this.readiness.check()]) : running;
    answerWith(reply, checked.isUp);
    return checked.details;
  }
}

function answerWith(reply: FastifyReply, isUp: boolean): void {
  reply.status(isUp ? 200 : 503);
  if (!isUp) reply.header('retry-after', String(RETRY_AFTER_S));
}
