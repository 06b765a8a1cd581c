import { isJsonObject, type JsonObject } from '@app/platform';

const MAX_CHARS = 200;
const MAX_CAPABILITIES = 50;

/** How a client names itself; both are its own words. */
export interface ClientInfo {
  readonly name: string | null;
  readonly version: string | null;
}

/** A client as operators see it. Its id is not the id of its session, which is a secret. */
export interface ConnectedClient {
  readonly id: string;
  readonly era: 'legacy' | 'modern';
  /** The name of the principal. */
  readonly caller: string;
  readonly info: ClientInfo;
  /** The protocol revision. */
  readonly version: string | null;
  /** The path that it connected to. */
  readonly endpoint: string;
  /** The slug of the view. */
  readonly view: string | null;
  readonly capabilities: readonly string[];
  /** Resources whose updates it asked for. */
  readonly subscriptions: number;
  /** Open responses on which it waits for messages. */
  readonly streams: number;
  readonly openedAt: Date;
  readonly lastSeenAt: Date;
  /** Tool calls. */
  readonly calls: number;
  /** Requests in flight. */
  readonly running: number;
}

export const NAMELESS: ClientInfo = { name: null, version: null };

export function clientInfoOf(value: unknown): ClientInfo {
  if (!isJsonObject(value)) return NAMELESS;
  return { name: textIn(value['name']), version: textIn(value['version']) };
}

export function capabilityNames(capabilities: JsonObject): readonly string[] {
  return Object.keys(capabilities)
    .slice(0, MAX_CAPABILITIES)
    .map((name) => name.slice(0, MAX_CHARS));
}

function textIn(value: unknown): string | null {
  return typeof value === 'string' ? value.slice(0, MAX_CHARS) : null;
}
