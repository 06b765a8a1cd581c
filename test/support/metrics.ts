import type { FactoryProvider } from '@nestjs/common';
import { Registry } from 'prom-client';

/** The metrics of one service, without the service. */
export class TestMetrics {
  readonly registry = new Registry();

  /** The value that Nest would inject for this provider. */
  of<Metric>(provider: FactoryProvider<Metric>): Metric {
    const made: unknown = provider.useFactory(this.registry);
    return made as Metric;
  }
}
