import {
  headerText,
  mcpHeader,
  PROTOCOL_VERSION_META_KEY,
  type RpcMessage,
  subjectOf,
} from '@app/mcp-protocol';
import { isJsonObject } from '@app/platform';
import type { Authorizer } from './authorizer.js';
import { headerLines, ownHeaders } from './http-headers.js';
import type { HttpTarget } from './sse.wire.js';

const post = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};
const listening = { accept: 'text/event-stream' };

/** The session that the server gave us, and the headers of requests in it. */
export class HttpSession {
  /** Counts the sessions. */
  epoch = 0;
  private readonly ownHeaders: Readonly<Record<string, string>>;
  private id: string | undefined;
  private protocolVersion: string | undefined;
  private usualHeaders: string | undefined;
  private usualCredentials: string | undefined;

  constructor(
    private readonly target: Pick<HttpTarget, 'headers' | 'headersOfRequest'>,
    private readonly authorizer: Authorizer | undefined,
  ) {
    this.ownHeaders = ownHeaders(target.headers);
  }

  /** Servers may do without session ids. */
  get hasId(): boolean {
    return this.id !== undefined;
  }

  begin(id: string | undefined): void {
    this.id = id;
    this.usualHeaders = undefined;
    this.epoch++;
  }

  forget(): void {
    this.id = undefined;
    this.protocolVersion = undefined;
    this.usualHeaders = undefined;
  }

  setProtocolVersion(version: string): void {
    this.protocolVersion = version;
    this.usualHeaders = undefined;
  }

  /** For the request that asks for a session. */
  headersOfBegin(): string {
    return this.headersFor(false, post);
  }

  /** Headers of this request alone follow those that are the same for every request of a session. */
  headersOfPost(message: RpcMessage, extra: Readonly<Record<string, string>> | undefined): string {
    const modern = modernHeaders(message);
    const more = modern && extra ? { ...modern, ...extra } : (modern ?? extra);
    if (this.target.headersOfRequest || (more && this.hasOneOf(more)))
      return this.headersFor(true, { ...post, ...more });
    return more ? this.usual() + headerLines(more) : this.usual();
  }

  /** Whether one of them replaces a header of the session. */
  private hasOneOf(headers: Readonly<Record<string, string>>): boolean {
    for (const name in headers) {
      if (Object.hasOwn(this.ownHeaders, name)) return true;
      if (name === mcpHeader.protocolVersion && this.protocolVersion !== undefined) return true;
    }
    return false;
  }

  private usual(): string {
    const credentials = this.authorizer?.header;
    if (this.usualHeaders === undefined || this.usualCredentials !== credentials) {
      this.usualHeaders = this.headersFor(true, post);
      this.usualCredentials = credentials;
    }
    return this.usualHeaders;
  }

  /** For a stream of events; `lastEventId` resumes one. */
  headersOfStream(lastEventId: string | undefined): string {
    return this.headersFor(true, {
      ...listening,
      ...(lastEventId !== undefined && { [mcpHeader.lastEventId]: lastEventId }),
    });
  }

  headersOfFarewell(): string {
    return this.headersFor(true);
  }

  private headersFor(inSession: boolean, more?: Record<string, string>): string {
    const { id, protocolVersion } = this;
    const authorization = this.authorizer?.header;
    return headerLines({
      ...this.ownHeaders,
      ...(authorization !== undefined && { authorization }),
      ...(inSession && id !== undefined && { [mcpHeader.sessionId]: id }),
      ...(inSession &&
        protocolVersion !== undefined && { [mcpHeader.protocolVersion]: protocolVersion }),
      ...more,
      ...this.target.headersOfRequest?.(),
    });
  }
}

/** The specification says 404; servers built after the SDK's example send 400 with a message about sessions. */
export function saysSessionUnknown(status: number, body: Buffer | undefined): boolean {
  if (status === 404) return true;
  return status === 400 && /session|not initialized/i.test(body?.toString('utf8') ?? '');
}

/** Headers in which 2026-07-28 repeats parts of the body, so that proxies can route without parsing it. */
function modernHeaders(message: RpcMessage): Record<string, string> | undefined {
  if (!('method' in message)) return undefined;
  const { method, params = {} } = message;
  const version = isJsonObject(params['_meta'])
    ? params['_meta'][PROTOCOL_VERSION_META_KEY]
    : undefined;
  if (typeof version !== 'string') return undefined;
  const name = subjectOf(message);
  return {
    [mcpHeader.protocolVersion]: version,
    [mcpHeader.method]: method,
    ...(name !== undefined && { [mcpHeader.name]: headerText(name) }),
  };
}
