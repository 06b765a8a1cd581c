import { type FactoryProvider, Inject, type Provider } from '@nestjs/common';
import {
  getToken,
  makeCounterProvider,
  makeGaugeProvider,
  makeHistogramProvider,
  type MetricProviderInjectable,
} from '@willsoto/nestjs-prometheus/dist/metrics/index.js';
import {
  type Counter,
  type CounterConfiguration,
  type Gauge,
  type GaugeConfiguration,
  type Histogram,
  type HistogramConfiguration,
  Registry,
} from 'prom-client';

type Options<Configuration, Metric> = Omit<Configuration, 'collect' | 'registers'> &
  MetricProviderInjectable<Metric>;

/**
 * Injects a metric. The package's own decorator is behind its CommonJS entry, which requires Nest's ES modules: Jest
 * supports that only from Node 24.9 on. The providers imported above require only prom-client.
 */
export function InjectMetric(name: string): ParameterDecorator & PropertyDecorator {
  return Inject(getToken(name));
}

/** A counter; a class gets it with `@InjectMetric(name)`. */
export function counter(
  options: Options<CounterConfiguration<string>, Counter>,
): FactoryProvider<Counter> {
  return inOwnRegistry(makeCounterProvider, options);
}

/** A gauge; `collect` sets it at each scrape and receives the providers in `inject`. */
export function gauge(options: Options<GaugeConfiguration<string>, Gauge>): FactoryProvider<Gauge> {
  return inOwnRegistry(makeGaugeProvider, options);
}

/** A histogram; a class gets it with `@InjectMetric(name)`. */
export function histogram(
  options: Options<HistogramConfiguration<string>, Histogram>,
): FactoryProvider<Histogram> {
  return inOwnRegistry(makeHistogramProvider, options);
}

interface MetricOptions {
  readonly name: string;
  readonly inject?: MetricProviderInjectable<unknown>['inject'];
}

/**
 * Registers the metric in the registry of the service. The package uses the registry of the process: two services in
 * one process, as in tests, would share counters, and gauges of the second would read the database of the first.
 */
function inOwnRegistry<Options extends MetricOptions>(
  make: (options: Options & { readonly registers: Registry[] }) => Provider,
  options: Options,
): FactoryProvider {
  return {
    provide: getToken(options.name),
    inject: [Registry, ...(options.inject ?? [])],
    useFactory: (registry: Registry, ...injected: unknown[]) => {
      const provider = make({ ...options, registers: [registry] });
      if (typeof provider !== 'object' || !('useFactory' in provider)) {
        throw new TypeError('nestjs-prometheus did not return a factory provider');
      }
      // The first argument is the options of PrometheusModule: a name prefix, which this service does not use.
      return provider.useFactory(undefined, ...injected);
    },
  };
}
