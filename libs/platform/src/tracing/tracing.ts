import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Env } from '../config/env.js';
import { Egress } from '../egress/egress.js';
import { counter, InjectMetric } from '../metrics/metric-providers.js';
import { Clock } from '../work/clock.js';
import {
  duringSpan,
  NamedSpan,
  type Span,
  type SpanAttributes,
  Trace,
  type TraceKeeper,
} from './span.js';
import { SpanExporter } from './span-exporter.js';
import type { TraceContext } from './trace-context.js';
import { type TracingSettings, tracingSettings } from './tracing-settings.js';

/** The time of day is compared with the monotonic clock this often, so that all spans of a trace have one offset. */
const CLOCK_EVERY_MS = 60_000;

const SPANS = 'mcp_aggregator_spans_total';
export const spansCounted = counter({
  name: SPANS,
  help: 'Spans of traces that the collector accepted, and that were dropped because it did not',
  labelNames: ['outcome'],
});

/**
 * Records what requests do as traces of OpenTelemetry. Off unless an endpoint is configured: then `begin` returns
 * undefined, and everything after it is skipped.
 */
@Injectable()
export class Tracing implements TraceKeeper, OnApplicationShutdown {
  readonly slowMs: number;
  private readonly settings: TracingSettings | undefined;
  private readonly exporter: SpanExporter | undefined;
  /** The time of day at 0 of `performance.now()`, and when that was looked up. */
  private epochMs = 0;
  private epochReadAt = -Infinity;

  constructor(
    env: Env,
    egress: Egress,
    private readonly clock: Clock,
    @InjectMetric(SPANS) private readonly spans: Counter<'outcome'>,
  ) {
    this.settings = tracingSettings(env);
    this.slowMs = this.settings?.slowMs ?? Infinity;
    this.exporter =
      this.settings &&
      new SpanExporter(this.settings, egress, {
        exported: (count) => this.spans.inc({ outcome: 'exported' }, count),
        dropped: (count) => this.drop(count),
      });
  }

  get isOn(): boolean {
    return this.exporter !== undefined;
  }

  /** The trace of a request; `remote` is its parent, `link` is another span that it is related to. */
  begin(remote?: TraceContext, link?: TraceContext): Trace | undefined {
    if (!this.settings) return undefined;
    return new Trace(this, this.settings.isSampled(remote), remote, link);
  }

  /** Does work that no client requested, such as a discovery, as a trace of its own. */
  work<T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T> {
    const trace = this.begin();
    if (!trace) return work();
    return duringSpan(new NamedSpan(trace, undefined, performance.now(), name, attributes), work);
  }

  /** A request to another system that is over, whatever the sampler says. */
  record(name: string, startedAt: number, attributes: SpanAttributes): void {
    if (!this.isOn) return;
    new NamedSpan(new Trace(this, true), undefined, startedAt, name, attributes, 'client').end();
  }

  keep(span: Span): void {
    if (span.endedAt - this.epochReadAt > CLOCK_EVERY_MS) {
      this.epochReadAt = performance.now();
      this.epochMs = this.clock.now().getTime() - this.epochReadAt;
    }
    this.exporter?.add(span, this.epochMs);
  }

  drop(spans: number): void {
    this.spans.inc({ outcome: 'dropped' }, spans);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.exporter?.close();
  }
}
