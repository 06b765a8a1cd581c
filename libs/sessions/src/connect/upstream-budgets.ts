import { Inject, Injectable } from '@nestjs/common';
import { Env, type JsonObject, SharedBudget } from '@app/platform';

/**
 * The capabilities we declare to every server. Whether a connected client supports one is decided when the server
 * sends a request.
 */
export const CLIENT_CAPABILITIES: JsonObject = {
  sampling: {},
  elicitation: { form: {}, url: {} },
  roots: { listChanged: true },
};

/** The shared budget for lists: this many lists of the maximum size at the same time. */
const FULL_LISTS = 8;

/** Received and listed bytes, in one budget for all servers. */
@Injectable()
export class UpstreamBudgets {
  readonly receiving: SharedBudget;
  readonly listing: SharedBudget;

  constructor(@Inject(Env) env: Env) {
    this.receiving = new SharedBudget(env.MCP_AGGREGATOR_MAX_RECEIVING_BYTES);
    this.listing = new SharedBudget(env.MCP_AGGREGATOR_MAX_LIST_BYTES * FULL_LISTS);
  }
}
