import { Injectable } from '@nestjs/common';
import { MAX_AGGREGATORS, rpcCode, RpcError, viaIn, viaMeta } from '@app/mcp-protocol';
import type { JsonObject } from '@app/platform';
import { Deployment } from '@app/registry';

/** Detects request loops between aggregators that are registered at each other. */
@Injectable()
export class LoopGuard {
  constructor(private readonly deployment: Deployment) {}

  /** Handshake metadata with the id of this deployment and of the aggregators behind it. */
  introduction(behind: readonly string[] = []): JsonObject {
    return viaMeta([this.deployment.id, ...behind]);
  }

  /** The error for a request that has passed this deployment before, or too many aggregators. */
  refusalOf(params: JsonObject): RpcError | undefined {
    if (params['_meta'] === undefined) return undefined;
    const via = viaIn(params['_meta']);
    if (via.includes(this.deployment.id)) {
      return new RpcError(
        rpcCode.invalidParams,
        'Loop: the request has been through this aggregator already; two aggregators are registered at each other',
      );
    }
    if (via.length >= MAX_AGGREGATORS) {
      return new RpcError(
        rpcCode.invalidParams,
        `The request has been through ${via.length} aggregators; the most is ${MAX_AGGREGATORS - 1}`,
      );
    }
    return undefined;
  }
}
