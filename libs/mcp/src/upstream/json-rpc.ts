import { isJsonObject, type JsonObject, type JsonValue } from '@app/platform';

export type RequestId = string | number;

/** What we send. Of what servers send nothing is taken for granted: see `readMessage`. */
export type OutgoingMessage =
  | {
      readonly jsonrpc: '2.0';
      readonly id: RequestId;
      readonly method: string;
      readonly params?: JsonObject;
    }
  | { readonly jsonrpc: '2.0'; readonly method: string; readonly params?: JsonObject }
  | { readonly jsonrpc: '2.0'; readonly id: RequestId; readonly result: JsonObject }
  | { readonly jsonrpc: '2.0'; readonly id: RequestId; readonly error: JsonObject };

export type IncomingMessage =
  | { readonly kind: 'result'; readonly id: RequestId; readonly result: JsonValue }
  | { readonly kind: 'error'; readonly id: RequestId | null; readonly error: JsonObject }
  | {
      readonly kind: 'request';
      readonly id: RequestId;
      readonly method: string;
      readonly params: JsonObject;
    }
  | { readonly kind: 'notification'; readonly method: string; readonly params: JsonObject };

/** One message, several (batches exist in 2025-03-26), or none when it is no JSON-RPC at all. */
export function readFrame(text: string): { raw: JsonObject; message: IncomingMessage }[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return [];
  }
  const items: unknown[] = Array.isArray(parsed) ? parsed : [parsed];
  return items.flatMap((raw) => {
    const message = isJsonObject(raw) ? readMessage(raw) : undefined;
    return isJsonObject(raw) && message ? [{ raw, message }] : [];
  });
}

function readMessage(raw: JsonObject): IncomingMessage | undefined {
  const { id, method } = raw;
  const params = isJsonObject(raw['params']) ? raw['params'] : {};
  const known = typeof id === 'number' || typeof id === 'string';
  if (typeof method === 'string') {
    return known
      ? { kind: 'request', id, method, params }
      : { kind: 'notification', method, params };
  }
  if (isJsonObject(raw['error'])) {
    return { kind: 'error', id: known ? id : null, error: raw['error'] };
  }
  if (known && raw['result'] !== undefined) return { kind: 'result', id, result: raw['result'] };
  return undefined;
}
