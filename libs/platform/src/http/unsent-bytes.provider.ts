import type { FactoryProvider } from '@nestjs/common';
import { Env } from '../config/env.js';
import { gauge } from '../metrics/metric-providers.js';
import { ClientLimits } from './client-limits.js';
import { UnsentBytes } from './unsent-bytes.js';

/** Share of the budget for one connection. */
const CONNECTION_PART = 1 / 8;

export const unsentBytes: FactoryProvider<UnsentBytes> = {
  provide: UnsentBytes,
  inject: [Env, ClientLimits],
  useFactory: (env: Env, limits: ClientLimits) => {
    const total = env.MCP_AGGREGATOR_UNSENT_BYTES;
    const stallMs = env.MCP_AGGREGATOR_WRITE_TIMEOUT * 1_000;
    return new UnsentBytes(
      { total, perConnection: total * CONNECTION_PART, stallMs },
      ({ reason, principal, bytes, stalledMs }) =>
        limits.note(reason, principal, { unsent_bytes: bytes, stalled_ms: stalledMs }),
    );
  },
};

export const unsentBytesHeld = gauge({
  name: 'mcp_aggregator_unsent_bytes',
  help: 'Bytes in memory that clients have not read yet, or may ask for again',
  inject: [UnsentBytes],
  collect(unsent: UnsentBytes) {
    this.set(unsent.total);
  },
});
