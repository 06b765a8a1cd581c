import { product, SERVICE_NAME } from '../product.js';
import { gauge } from './metric-providers.js';

/**
 * The labels of the contract's metrics are fixed: the service name has its own info series, as is usual for Prometheus
 * exporters.
 */
export const serviceInfo = gauge({
  name: 'mcp_aggregator_info',
  help: 'The service and its version; the value is always 1',
  labelNames: ['service', 'version'],
  collect() {
    this.set({ service: SERVICE_NAME, version: product.version }, 1);
  },
});
