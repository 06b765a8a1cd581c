import { Injectable } from '@nestjs/common';
import { counter, InjectMetric } from '@app/platform';
import type { Counter } from 'prom-client';

const SHORTENED = 'mcp_aggregator_results_shortened_total';
export const shortenedResults = counter({
  name: SHORTENED,
  help: 'Results of calls over their budget, by whether the whole was kept for its caller',
  labelNames: ['whole'],
});

@Injectable()
export class ResultMetrics {
  constructor(@InjectMetric(SHORTENED) readonly shortened: Counter<'whole'>) {}
}
