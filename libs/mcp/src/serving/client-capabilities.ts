import { isJsonObject, type JsonObject } from '@app/platform';
import { rpcCode, RpcError } from './rpc.js';

/** What a client must have declared before it may be asked. */
const needed: Readonly<Record<string, string>> = {
  'sampling/createMessage': 'sampling',
  'elicitation/create': 'elicitation',
  'roots/list': 'roots',
};

export function requireCapability(
  capabilities: JsonObject,
  method: string,
  params: JsonObject,
): void {
  const name = needed[method];
  if (name === undefined) return;
  const capability = capabilities[name];
  if (!isJsonObject(capability)) {
    throw new RpcError(rpcCode.methodNotFound, `The client does not support ${name}`);
  }
  if (method !== 'elicitation/create') return;
  const { mode = 'form' } = params;
  // Before there were others, forms were all there was.
  const declared: JsonObject = Object.keys(capability).length === 0 ? { form: {} } : capability;
  if (typeof mode !== 'string' || !isJsonObject(declared[mode])) {
    const what = `elicitation by ${JSON.stringify(mode)}`;
    throw new RpcError(rpcCode.invalidParams, `The client does not support ${what}`);
  }
}
