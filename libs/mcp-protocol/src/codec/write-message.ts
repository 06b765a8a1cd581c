import { jsonLine, onOneLine, writeJson, RawJsonObject } from '@app/platform';
import type { RpcMessage, RpcResponse, RpcResult } from './message.js';
import { idText } from './message-id.js';

const CLOSE_BRACE = 0x7d;

type Forwarded = Extract<RpcResponse, { result: RpcResult }> & { readonly result: RawJsonObject };

/** The bytes of a message, on one line if `onLine` is set. A forwarded result is copied, not parsed. */
export function messageBytes(message: RpcMessage, onLine = false): string | Buffer {
  if (!isForwarded(message)) {
    const text = messageText(message);
    return onLine ? jsonLine(text) : text;
  }
  const result = onLine ? onOneLine(message.result.bytes) : message.result.bytes;
  const head = `{"jsonrpc":"2.0","id":${idText(message.id)},"result":`;
  const headBytes = Buffer.byteLength(head);
  const bytes = Buffer.allocUnsafe(headBytes + result.length + 1);
  bytes.write(head, 0);
  result.copy(bytes, headBytes);
  bytes[bytes.length - 1] = CLOSE_BRACE;
  return bytes;
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
