import {
  mcpHeader,
  PROTOCOL_VERSION_META_KEY,
  readMessage,
  type RpcRequest,
} from '@app/mcp-protocol';
import { isJsonObject, Shares } from '@app/platform';
import type { IncomingHttpHeaders } from 'node:http';
import { envelopeKeys } from '../modern/envelope.js';

/** Lets requests of sessions skip the SDK's classification, which validates the whole message. */
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
/** W3C trace context, which is new in every request. */
const TRACE_KEYS = ['traceparent', 'tracestate'];

/**
 * Clients of revision 2026-07-28 repeat the same envelope with every request. Once the SDK has validated an
 * envelope, well-formed requests that repeat it skip the SDK's validation.
 */
export class KnownEnvelopes {
  /** Envelope to the principal that sent it first. */
  private readonly texts = new Map<string, string>();
  private readonly owners = new Shares();

  /** Records a request that the SDK classified as one of this revision. */
  remember({ params }: RpcRequest, owner = ''): void {
    const text = envelopeIn(params)?.text;
    if (text === undefined || text.length > MAX_LENGTH || this.texts.has(text)) return;
    if (this.texts.size >= MAX_KNOWN) this.forgetOneFor(owner);
    this.texts.set(text, owner);
    this.owners.add(owner);
  }

  /** Undefined for any unusual request: the SDK classifies it then. */
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
    if (!isIntegerOrText(id) || method === 'initialize' || headers[mcpHeader.method] !== method) {
      return undefined;
    }
    const envelope = envelopeIn(params);
    const isKnown =
      envelope?.version === headers[mcpHeader.protocolVersion] &&
      this.texts.has(envelope?.text ?? '');
    return isKnown && envelope ? { request, version: envelope.version } : undefined;
  }

  /** Evicts the oldest entry of the same principal, unless another principal exceeds its share. */
  private forgetOneFor(principal: string): void {
    const gives = this.owners.whoGivesWay(principal);
    for (const [text, owner] of this.texts) {
      if (owner !== gives) continue;
      this.texts.delete(text);
      this.owners.remove(owner);
      return;
    }
  }
}

/** Undefined when `_meta` has more than the envelope, a progress token and a trace context. */
function envelopeIn(
  params: RpcRequest['params'],
): { readonly text: string; readonly version: string } | undefined {
  const meta = params?.['_meta'];
  if (!isJsonObject(meta)) return undefined;
  for (const key of Object.keys(meta)) {
    const isUsual =
      key === 'progressToken'
        ? isIntegerOrText(meta[key])
        : TRACE_KEYS.includes(key)
          ? typeof meta[key] === 'string'
          : envelopeKeys.includes(key);
    if (!isUsual) return undefined;
  }
  const version = meta[PROTOCOL_VERSION_META_KEY];
  if (typeof version !== 'string') return undefined;
  return { text: JSON.stringify(envelopeKeys.map((key) => meta[key])), version };
}

function isIntegerOrText(value: unknown): boolean {
  return typeof value === 'string' || Number.isInteger(value);
}
