import { type Clock, type Env, Retries } from '@app/platform';
import { nextWaitMs } from './reconnect-policy.js';

/** Repeats reads of servers that failed, with the waits of reconnecting (contract R42). */
export class ServerRetries extends Retries {
  constructor(
    clock: Pick<Clock, 'sleep'>,
    { MCP_AGGREGATOR_HEALTH_INTERVAL }: Pick<Env, 'MCP_AGGREGATOR_HEALTH_INTERVAL'>,
  ) {
    super(clock, (failures) => nextWaitMs(failures, MCP_AGGREGATOR_HEALTH_INTERVAL, Math.random()));
  }
}
