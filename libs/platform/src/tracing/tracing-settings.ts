import { randomUUID } from 'node:crypto';
import { type Env } from '../config/env.js';
import { product, SERVICE_NAME } from '../product.js';
import type { TraceContext } from './trace-context.js';

/** What the settings of OpenTelemetry mean for this service; undefined when nothing is to be traced. */
export interface TracingSettings {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly isGzipped: boolean;
  readonly resource: readonly string[];
  readonly maxQueue: number;
  readonly maxBatch: number;
  readonly everyMs: number;
  readonly slowMs: number;
  readonly isSampled: (remote: TraceContext | undefined) => boolean;
}

export function tracingSettings(
  env: Env,
  random: () => number = Math.random,
): TracingSettings | undefined {
  const url = tracesUrl(env);
  if (env.OTEL_SDK_DISABLED || env.OTEL_TRACES_EXPORTER === 'none' || !url) return undefined;
  return {
    url,
    headers: {
      ...env.OTEL_EXPORTER_OTLP_HEADERS,
      ...env.OTEL_EXPORTER_OTLP_TRACES_HEADERS,
    },
    timeoutMs: env.OTEL_EXPORTER_OTLP_TRACES_TIMEOUT ?? env.OTEL_EXPORTER_OTLP_TIMEOUT,
    isGzipped: env.OTEL_EXPORTER_OTLP_COMPRESSION === 'gzip',
    resource: resourceOf(env),
    maxQueue: env.OTEL_BSP_MAX_QUEUE_SIZE,
    maxBatch: env.OTEL_BSP_MAX_EXPORT_BATCH_SIZE,
    everyMs: env.OTEL_BSP_SCHEDULE_DELAY,
    slowMs: env.MCP_AGGREGATOR_TRACE_SLOW * 1_000,
    isSampled: samplerOf(env, random),
  };
}

/** The general endpoint is a base URL, the one for traces is used as it is. */
export function tracesUrl(
  env: Pick<Env, 'OTEL_EXPORTER_OTLP_ENDPOINT' | 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'>,
): string | undefined {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = env;
  if (own !== undefined) return own;
  return base === undefined ? undefined : `${base.replace(/\/+$/, '')}/v1/traces`;
}

function samplerOf(
  { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio }: Env,
  random: () => number,
): TracingSettings['isSampled'] {
  const byItself = (): boolean => {
    if (name.endsWith('always_on')) return true;
    return name.endsWith('ratio') && random() < ratio;
  };
  if (!name.startsWith('parentbased_')) return byItself;
  return (remote) => (remote ? remote.isSampled : byItself());
}

/** Names and values in turn. */
function resourceOf(env: Env): string[] {
  const given = env.OTEL_RESOURCE_ATTRIBUTES;
  const named = env.OTEL_SERVICE_NAME ?? given['service.name'] ?? SERVICE_NAME;
  const attributes = {
    'service.version': product.version,
    'service.instance.id': randomUUID(),
    ...given,
    'service.name': named,
  };
  return Object.entries(attributes).flat();
}
