import { isJsonObject, type JsonObject } from '@app/platform';
import { rpcCode, RpcError } from '@app/mcp-protocol';

/** The capability that a client has to declare for each kind of request. */
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
  // An empty `elicitation` capability means forms, the only mode of older revisions.
  const declared: JsonObject = Object.keys(capability).length === 0 ? { form: {} } : capability;
  if (typeof mode !== 'string' || !isJsonObject(declared[mode])) {
    const what = `elicitation by ${JSON.stringify(mode)}`;
    throw new RpcError(rpcCode.invalidParams, `The client does not support ${what}`);
  }
}
