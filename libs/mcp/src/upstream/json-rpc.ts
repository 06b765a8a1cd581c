import { isJsonObject, type JsonObject, type JsonValue, WrittenObject } from '@app/platform';

export type RequestId = string | number;

/** What we send. Of what servers send nothing is taken for granted: see `readMessage`. */
export interface OutgoingRequest {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly method: string;
  readonly params?: JsonObject | undefined;
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

export interface WrittenAnswer {
  readonly id: RequestId;
  readonly result: WrittenObject;
}

/** A successful answer, its result as it was written; undefined for everything else. */
export function readAnswer(bytes: Buffer): WrittenAnswer | undefined {
  const answer = readUsualAnswer(bytes) ?? readAnyAnswer(bytes);
  if (answer && bytes.length <= MAX_CHECKED_BYTES && !answer.result.isJson) return undefined;
  return answer;
}

const USUAL_HEAD = Buffer.from('{"jsonrpc":"2.0","id":');
const USUAL_RESULT = Buffer.from(',"result":');
const USUAL_FRONT = Buffer.from('{"result":');
const USUAL_BACK = Buffer.from(',"jsonrpc":"2.0","id":');
const CLOSE_BRACE = 0x7d;
/** More digits than our ids have. */
const MAX_DIGITS = 15;

/** The two ways in which nearly all servers write an answer, told by their bytes. */
function readUsualAnswer(bytes: Buffer): WrittenAnswer | undefined {
  const end = bytes.length - 1;
  if (bytes[end] !== CLOSE_BRACE) return undefined;
  if (startsWith(bytes, USUAL_HEAD, 0)) {
    const after = endOfDigits(bytes, USUAL_HEAD.length);
    if (after < 0 || !startsWith(bytes, USUAL_RESULT, after)) return undefined;
    const id = Number(bytes.toString('latin1', USUAL_HEAD.length, after));
    const result = WrittenObject.read(bytes.subarray(after + USUAL_RESULT.length, end));
    return result && { id, result };
  }
  if (!startsWith(bytes, USUAL_FRONT, 0)) return undefined;
  let digits = end;
  while (end - digits < MAX_DIGITS && isDigit(bytes[digits - 1])) digits--;
  const back = digits - USUAL_BACK.length;
  if (digits === end || back < 0 || !startsWith(bytes, USUAL_BACK, back)) return undefined;
  const result = WrittenObject.read(bytes.subarray(USUAL_FRONT.length, back));
  return result && { id: Number(bytes.toString('latin1', digits, end)), result };
}

function readAnyAnswer(bytes: Buffer): WrittenAnswer | undefined {
  const envelope = WrittenObject.read(bytes);
  if (!envelope || envelope.has('method') || envelope.has('error')) return undefined;
  const id = envelope.get('id');
  if (typeof id !== 'number' && typeof id !== 'string') return undefined;
  const raw = envelope.raw('result');
  const result = raw && WrittenObject.read(raw);
  return result && { id, result };
}

function startsWith(bytes: Buffer, part: Buffer, at: number): boolean {
  for (let i = 0; i < part.length; i++) if (bytes[at + i] !== part[i]) return false;
  return true;
}

/** -1 when there is none, or too many to be an id of ours. */
function endOfDigits(bytes: Buffer, from: number): number {
  let at = from;
  while (at - from < MAX_DIGITS && isDigit(bytes[at])) at++;
  return at === from ? -1 : at;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
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
