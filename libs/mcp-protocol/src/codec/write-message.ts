import { jsonLine, onOneLine, writeJson, RawJsonObject } from '@app/platform';
import type { RpcMessage, RpcResponse, RpcResult } from './message.js';
import { idText } from './message-id.js';

const CLOSE_BRACE = Buffer.from('}');
/** A smaller result is cheaper to copy than to write by itself. */
const MIN_PIECED_BYTES = 65_536;

type Forwarded = Extract<RpcResponse, { result: RpcResult }> & { readonly result: RawJsonObject };

/** The bytes of a message, on one line if `onLine` is set. A forwarded result is copied, not parsed. */
export function messageBytes(message: RpcMessage, onLine = false): string | Buffer {
  if (isForwarded(message)) return Buffer.concat(forwardedPieces(message, onLine));
  const text = messageText(message);
  return onLine ? jsonLine(text) : text;
}

/** The same in pieces: a large forwarded result is not copied, because that takes milliseconds. */
export function messagePieces(message: RpcMessage): readonly (string | Buffer)[] {
  if (!isForwarded(message)) return [messageText(message)];
  const pieces = forwardedPieces(message, false);
  const [, result] = pieces;
  const isLarge = pieces.length > 3 || (result && result.length >= MIN_PIECED_BYTES);
  return isLarge ? pieces : [Buffer.concat(pieces)];
}

function forwardedPieces({ id, result }: Forwarded, onLine: boolean): Buffer[] {
  const head = Buffer.from(`{"jsonrpc":"2.0","id":${idText(id)},"result":`);
  const { pieces } = result;
  return [head, ...(onLine ? pieces.map(onOneLine) : pieces), CLOSE_BRACE];
}

function isForwarded(message: RpcMessage): message is Forwarded {
  return 'result' in message && message.result instanceof RawJsonObject;
}

/** The text of a message. Values that keep the text they were parsed from are written as that text (see `keepText`). */
export function messageText(message: RpcMessage): string {
  const id = 'id' in message ? `,"id":${idText(message.id)}` : '';
  return `{"jsonrpc":"2.0"${id}${contentText(message)}}`;
}

function contentText(message: RpcMessage): string {
  if ('result' in message) return `,"result":${resultText(message.result)}`;
  if ('error' in message) return `,"error":${writeJson({ ...message.error })}`;
  const method = `,"method":${JSON.stringify(message.method)}`;
  return message.params ? `${method},"params":${writeJson(message.params)}` : method;
}

function resultText(result: RpcResult): string {
  return result instanceof RawJsonObject ? result.bytes.toString() : writeJson(result);
}
