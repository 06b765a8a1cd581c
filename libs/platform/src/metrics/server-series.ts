import { Injectable } from '@nestjs/common';
import { Registry } from 'prom-client';

/** Removes the series of removed servers from every metric with a label `server`. */
@Injectable()
export class ServerSeries {
  constructor(private readonly registry: Registry) {}

  remove(name: string): Promise<void> {
    return this.removeWhere((server) => server === name);
  }

  keepOnly(names: ReadonlySet<string>): Promise<void> {
    return this.removeWhere((server) => !names.has(server));
  }

  private async removeWhere(isGone: (server: string) => boolean): Promise<void> {
    for (const described of this.registry.getMetricsAsArray()) {
      if (!hasServerLabel(described)) continue;
      const metric = this.registry.getSingleMetric(described.name);
      if (!metric) continue;
      for (const { labels } of (await metric.get()).values) {
        // A histogram adds `le` to the labels of its series.
        const { le: _bucket, ...own } = labels;
        if (typeof own['server'] === 'string' && isGone(own['server'])) metric.remove(own);
      }
    }
  }
}

function hasServerLabel(metric: object): boolean {
  return (
    'labelNames' in metric &&
    Array.isArray(metric.labelNames) &&
    metric.labelNames.includes('server')
  );
}
