import { isJsonObject, type JsonObject, type JsonValue, WrittenObject } from '@app/platform';

export type RequestId = string | number;

/** What we send. Of what servers send nothing is taken for granted: see `readMessage`. */
export interface OutgoingRequest {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly method: string;
  readonly params?: JsonObject;
}

export type OutgoingMessage =
  | OutgoingRequest
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

/** Answers up to this size are read whole, so that what is no JSON is told from what is. */
const MAX_CHECKED_BYTES = 32_768;

/** A successful answer, its result as it was written; undefined for everything else. */
export function readAnswer(
  bytes: Buffer,
): { readonly id: RequestId; readonly result: WrittenObject } | undefined {
  const envelope = WrittenObject.read(bytes);
  if (!envelope || envelope.has('method') || envelope.has('error')) return undefined;
  const id = envelope.get('id');
  if (typeof id !== 'number' && typeof id !== 'string') return undefined;
  const raw = envelope.raw('result');
  const result = raw && WrittenObject.read(raw);
  if (!result) return undefined;
  return bytes.length > MAX_CHECKED_BYTES || envelope.toObject() ? { id, result } : undefined;
}

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
