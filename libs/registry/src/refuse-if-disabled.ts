import type { Env } from '@app/platform';
import { AggregatorDisabled } from './registry.errors.js';
import type { Server } from './server.js';

/** Throws when the settings disable all servers; called before anything connects to one or asks for its consent. */
export function refuseIfDisabled(
  env: Pick<Env, 'MCP_AGGREGATOR_ENABLED'>,
  { id, name, status = 'DISCONNECTED' }: Pick<Server, 'id' | 'name'> & Partial<Server>,
): void {
  if (!env.MCP_AGGREGATOR_ENABLED) throw new AggregatorDisabled({ id, name, status });
}
