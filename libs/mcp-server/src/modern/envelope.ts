import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  isLogLevel,
  LOG_LEVEL_META_KEY,
  type LogLevel,
  PROTOCOL_VERSION_META_KEY,
} from '@app/mcp-protocol';
import { changed, isJsonObject, type JsonObject } from '@app/platform';
import { type ClientInfo, clientInfoOf } from '../clients/connected-client.js';

export interface Envelope {
  readonly info?: ClientInfo;
  readonly capabilities: JsonObject;
  readonly logLevel: LogLevel | undefined;
}

/** The `_meta` keys with which a client describes itself in every request. */
export const envelopeKeys = [
  PROTOCOL_VERSION_META_KEY,
  CLIENT_INFO_META_KEY,
  CLIENT_CAPABILITIES_META_KEY,
  LOG_LEVEL_META_KEY,
];

export function envelopeOf(params: JsonObject): Envelope {
  const meta = isJsonObject(params['_meta']) ? params['_meta'] : {};
  const capabilities = meta[CLIENT_CAPABILITIES_META_KEY];
  const logLevel = meta[LOG_LEVEL_META_KEY];
  const info = meta[CLIENT_INFO_META_KEY];
  return {
    ...(info !== undefined && { info: clientInfoOf(info) }),
    capabilities: isJsonObject(capabilities) ? capabilities : {},
    logLevel: isLogLevel(logLevel) ? logLevel : undefined,
  };
}

/** What a server of this revision learns about the client of the request. */
export function envelopeFor({ capabilities, logLevel }: Omit<Envelope, 'info'>): JsonObject {
  return {
    [CLIENT_CAPABILITIES_META_KEY]: capabilities,
    ...(logLevel !== undefined && { [LOG_LEVEL_META_KEY]: logLevel }),
  };
}

const NO_META = { _meta: undefined };
const NO_ENVELOPE = Object.fromEntries(envelopeKeys.map((key) => [key, undefined]));

/** The params without the fields of the wire. */
export function withoutEnvelope(params: JsonObject): JsonObject {
  const { _meta: meta } = params;
  if (!isJsonObject(meta)) return changed(params, NO_META);
  const own = changed(meta, NO_ENVELOPE);
  return changed(params, Object.keys(own).length === 0 ? NO_META : { _meta: own });
}
