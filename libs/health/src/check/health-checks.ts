import { Injectable, ServiceUnavailableException } from '@nestjs/common';
import { type HealthIndicatorFunction, HealthCheckService } from '@nestjs/terminus';
import { z } from 'zod';

const result = z.object({
  details: z.record(z.string(), z.looseObject({ status: z.enum(['up', 'degraded', 'down']) })),
});

export interface Checked {
  /** No indicator is down. */
  readonly isUp: boolean;
  /** Result of each indicator by its key. */
  readonly details: z.infer<typeof result>['details'];
}

/**
 * Runs Terminus indicators and returns the result in both cases: Terminus throws it when an indicator is down, but
 * our response bodies are built from the result either way. After the drain Terminus throws even if no indicator
 * is down; the drain indicator decides whether requests are still served.
 */
@Injectable()
export class HealthChecks {
  constructor(private readonly checks: HealthCheckService) {}

  async run(indicators: HealthIndicatorFunction[]): Promise<Checked> {
    const { details } = result.parse(await this.resultOf(indicators));
    return { details, isUp: Object.values(details).every(({ status }) => status !== 'down') };
  }

  private async resultOf(indicators: HealthIndicatorFunction[]): Promise<unknown> {
    try {
      return await this.checks.check(indicators);
    } catch (error) {
      if (error instanceof ServiceUnavailableException) return error.getResponse();
      throw error;
    }
  }
}
