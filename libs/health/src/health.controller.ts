import { Controller, Get, Inject, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { HealthIndicatorService } from '@nestjs/terminus';
import { Public } from '@app/access';
import { Clock, Database, Env } from '@app/platform';
import { AuthorizationStore, ListServers } from '@app/registry';
import type { FastifyReply } from 'fastify';
import { type HealthReport, healthReport, type ServerForReport } from './health-report.js';
import { qdrantCheck } from './qdrant.js';

/** A probe wants an answer, also about a part that gives none. */
const CHECK_DEADLINE_MS = 2_000;

const examples = {
  healthy: {
    status: 'healthy',
    checks: { database: 'ok', qdrant: 'ok', sessions: 'ok' },
    servers: { total: 5, connected: 4, error: 1 },
  },
  degraded: {
    status: 'degraded',
    checks: { database: 'ok', qdrant: 'ok', sessions: 'degraded' },
    servers: { total: 5, connected: 2, error: 3 },
    issues: ['3 servers in error state'],
  },
};

@ApiTags('health')
@Public()
@Controller(['health', 'api/v1/aggregator/health'])
export class HealthController {
  constructor(
    private readonly queries: QueryBus,
    private readonly database: Database,
    private readonly authorizations: AuthorizationStore,
    private readonly clock: Clock,
    private readonly indicators: HealthIndicatorService,
    @Inject(Env) private readonly env: Env,
  ) {}

  @Get()
  @ApiOperation({
    summary: 'Health of the service and of its servers; 503 only without a database',
  })
  @ApiResponse({ status: 200, description: 'healthy or degraded', example: examples.healthy })
  @ApiResponse({
    status: 503,
    description: 'unhealthy',
    example: { ...examples.degraded, status: 'unhealthy' },
  })
  async health(@Res({ passthrough: true }) reply: FastifyReply): Promise<HealthReport> {
    const [servers, qdrant, unauthorized] = await Promise.all([
      this.servers(),
      qdrantCheck(this.env, CHECK_DEADLINE_MS),
      this.inTime(this.authorizations.countNeeded()),
    ]);
    const report = healthReport(servers, qdrant, unauthorized);
    reply.status(report.status === 'unhealthy' ? 503 : 200);
    return report;
  }

  @Get('live')
  @ApiOperation({ summary: 'Whether the process answers at all' })
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  @Get('ready')
  @ApiOperation({ summary: 'Whether requests can be served: the database answers' })
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<object> {
    const check = this.indicators.check('database');
    const up = await this.inTime(this.database.ping().then(() => true));
    reply.status(up ? 200 : 503);
    return up ? check.up() : check.down('the database does not answer');
  }

  private servers(): Promise<readonly ServerForReport[] | undefined> {
    return this.inTime(this.queries.execute(new ListServers()));
  }

  /** undefined when it fails or takes too long. */
  private inTime<T>(work: Promise<T>): Promise<T | undefined> {
    return Promise.race([
      work.catch(() => undefined),
      this.clock.sleep(CHECK_DEADLINE_MS).then(() => undefined),
    ]);
  }
}
