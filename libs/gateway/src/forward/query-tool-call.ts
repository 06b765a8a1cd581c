import { AllServersFailed, InvalidQuery, type QueryTool } from '@app/aggregation';
import type { ClientCall } from '@app/mcp-server';
import { rpcCode, RpcError } from '@app/mcp-protocol';
import type { JsonObject } from '@app/platform';
import type { Offer } from '@app/policy';
import { ClientConversation } from './forward-context.js';

/** Calls the aggregated query tool for a client. */
export async function callQueryTool(
  tool: QueryTool,
  params: JsonObject,
  call: ClientCall,
  offer: Offer,
): Promise<JsonObject> {
  const { actor, signal, span, onProgress } = new ClientConversation(call, params);
  const caller = { actor, signal, span };
  try {
    return await tool.call(params['arguments'], {
      ...caller,
      offer,
      ...(onProgress && { onProgress: (progress) => onProgress({ ...progress }) }),
    });
  } catch (error) {
    throw contractErrorOf(error);
  }
}

/** Maps to the JSON-RPC errors in the contract of the query tool; other errors are returned unchanged. */
function contractErrorOf(error: unknown): unknown {
  if (error instanceof InvalidQuery) {
    const { field, reason } = error;
    return new RpcError(rpcCode.invalidParams, 'Invalid query parameters', { field, reason });
  }
  if (error instanceof AllServersFailed) {
    const { attemptedServers, errors } = error;
    return new RpcError(rpcCode.internalError, error.message, {
      attemptedServers: [...attemptedServers],
      errors: [...errors],
    });
  }
  return error;
}
