import type { IncomingHttpHeaders } from 'node:http';
import { PROTOCOL_VERSION_META_KEY } from '../protocol.js';
import { isJsonObject } from '@app/platform';
import { envelopeKeys } from './modern-rules.js';
import { readMessage, type RpcRequest } from './rpc.js';

/** Spares the requests of sessions the SDK's classification, which validates the whole message. */
export function isPlainlyLegacy(body: unknown, version: string | string[] | undefined): boolean {
  if (typeof version === 'string' && version >= '2026') return false;
  return Array.isArray(body) ? body.every(namesNoVersion) : namesNoVersion(body);
}

function namesNoVersion(message: unknown): boolean {
  const params = isJsonObject(message) ? message['params'] : undefined;
  const meta = isJsonObject(params) ? params['_meta'] : undefined;
  return !isJsonObject(meta) || !(PROTOCOL_VERSION_META_KEY in meta);
}

const MAX_KNOWN = 1_000;
const MAX_LENGTH = 4_096;
const REQUEST_FIELDS = 4;

/**
 * What clients of revision 2026-07-28 say of themselves is the same with each of their requests. Once the SDK
 * has found it valid, requests that say it again and are plainly in order are spared its validation.
 */
export class KnownEnvelopes {
  private readonly texts = new Set<string>();

  /** A request that the SDK took for one of this revision. */
  remember({ params }: RpcRequest): void {
    const text = envelopeIn(params)?.text;
    if (text === undefined || text.length > MAX_LENGTH) return;
    if (this.texts.size >= MAX_KNOWN) this.texts.clear();
    this.texts.add(text);
  }

  /** Undefined for whatever is in the least unusual: the SDK decides then. */
  modernRequestIn(
    body: unknown,
    headers: IncomingHttpHeaders,
  ): { readonly request: RpcRequest; readonly version: string } | undefined {
    const incoming = readMessage(body);
    if (incoming.kind !== 'request' || Object.keys(body as object).length > REQUEST_FIELDS) {
      return undefined;
    }
    const { message: request } = incoming;
    const { id, method, params } = request;
    if (!isIntegerOrText(id) || method === 'initialize' || headers['mcp-method'] !== method) {
      return undefined;
    }
    const envelope = envelopeIn(params);
    const isKnown =
      envelope?.version === headers['mcp-protocol-version'] && this.texts.has(envelope?.text ?? '');
    return isKnown && envelope ? { request, version: envelope.version } : undefined;
  }
}

/** Undefined when it has more in it than the client's words about itself and a progress token. */
function envelopeIn(
  params: RpcRequest['params'],
): { readonly text: string; readonly version: string } | undefined {
  const meta = params?.['_meta'];
  if (!isJsonObject(meta)) return undefined;
  for (const key of Object.keys(meta)) {
    const isUsual =
      key === 'progressToken' ? isIntegerOrText(meta[key]) : envelopeKeys.includes(key);
    if (!isUsual) return undefined;
  }
  const version = meta[PROTOCOL_VERSION_META_KEY];
  if (typeof version !== 'string') return undefined;
  return { text: JSON.stringify(envelopeKeys.map((key) => meta[key])), version };
}

function isIntegerOrText(value: unknown): boolean {
  return typeof value === 'string' || Number.isInteger(value);
}
