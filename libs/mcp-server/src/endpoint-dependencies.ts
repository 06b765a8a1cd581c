import type { ClientLimits, Drain, Tracing } from '@app/platform';
import type { Audiences } from './stream/audiences.js';
import type { StatelessClients } from './clients/stateless-clients.js';
import type { ClusterView } from './owners.js';
import type { StreamDependencies } from './stream/sse-stream.js';
import type { KeptEvents } from './stream/stream-log.js';
import type { SubscriptionBudget } from './stream/subscriptions.js';

/** Dependencies that all clients of one endpoint share. */
export interface EndpointDependencies extends StreamDependencies {
  readonly kept: KeptEvents;
  readonly audiences: Audiences;
  readonly subscriptions: SubscriptionBudget;
  /** Those of the stateless era. */
  readonly clients: Pick<StatelessClients, 'note'>;
  readonly limits: ClientLimits | undefined;
  readonly drain: Pick<Drain, 'isDraining'>;
  /** Undefined in a service of one process. */
  readonly cluster: ClusterView | undefined;
  /** Undefined when nothing is traced. */
  readonly tracing: Tracing | undefined;
}
