import { isJsonObject, type JsonObject } from '@app/platform';
import { rpcCode, RpcError } from './rpc.js';

/** What a client must have declared before it may be asked. */
const needed: Readonly<Record<string, string>> = {
  'sampling/createMessage': 'sampling',
  'elicitation/create': 'elicitation',
  'roots/list': 'roots',
};

export function requireCapability(capabilities: JsonObject, method: string): void {
  const capability = needed[method];
  if (capability !== undefined && !isJsonObject(capabilities[capability])) {
    throw new RpcError(rpcCode.methodNotFound, `The client does not support ${capability}`);
  }
}
