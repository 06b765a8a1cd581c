import { AllServersFailed, InvalidQuestion, type QueryTool } from '@app/aggregation';
import { type ClientCall, RpcError } from '@app/mcp';
import type { JsonObject } from '@app/platform';
import { ClientConversation } from './conversation.js';

/** Calls the built-in query tool for a client; its errors are those of the tool's contract. */
export async function callQueryTool(
  tool: QueryTool,
  params: JsonObject,
  call: ClientCall,
): Promise<JsonObject> {
  const { actor, signal, onProgress } = new ClientConversation(call, params);
  const caller = { actor, signal };
  try {
    return await tool.call(params['arguments'], {
      ...caller,
      ...(onProgress && { onProgress: (progress) => onProgress({ ...progress }) }),
    });
  } catch (error) {
    if (error instanceof InvalidQuestion || error instanceof AllServersFailed) {
      throw new RpcError(error.rpc.code, error.rpc.message, error.rpc.data);
    }
    throw error;
  }
}
