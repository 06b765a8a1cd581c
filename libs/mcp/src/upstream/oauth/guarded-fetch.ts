import { isJsonObject, isLoopbackHost, type JsonValue } from '@app/platform';
import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import type { Agent } from 'undici';
import { mayName, reachOf, reachOfHost } from './reach.js';

const MAX_BODY_BYTES = 262_144;
const REQUEST_MS = 10_000;
const MAX_DESCRIPTION_CHARS = 300;
const NO_BODY = new Set([101, 204, 205, 304]);

export interface FetchRules {
  /** The server, and an authorization server that was configured: named by a person, not by a server. */
  readonly trusted: readonly URL[];
  readonly allowInsecureHttp: boolean;
  /** For everything that is fetched in one go. */
  readonly signal: AbortSignal;
  /** Takes secrets out of what an authorization server says. */
  redact(text: string): string;
}

/** A `TypeError`, because others make the SDK look elsewhere instead of giving up. */
export class UrlRefused extends TypeError {}

/**
 * What the SDK reads metadata and tokens with. The addresses come from a server, so they may lead only
 * where the server itself could be, over TLS, to answers of a bounded size in bounded time.
 */
export class GuardedFetch {
  /** Why the last request got no answer. */
  failure: Error | undefined;

  constructor(private readonly rules: FetchRules) {}

  readonly fetch = async (
    address: string | URL,
    { method = 'GET', headers, body }: RequestInit = {},
  ): Promise<Response> => {
    this.failure = undefined;
    const url = new URL(address);
    this.refuseInsecure(url);
    let agent: Agent | undefined;
    try {
      const addresses = await this.addressesOf(url);
      const undici = await import('undici');
      agent = new undici.Agent({
        connect: { minVersion: 'TLSv1.2', lookup: always(addresses), timeout: REQUEST_MS },
      });
      const answer = await undici.fetch(url, {
        method,
        headers: Object.fromEntries(new Headers(headers)),
        ...(body !== undefined && body !== null && { body: bodyText(body) }),
        redirect: 'manual',
        dispatcher: agent,
        signal: AbortSignal.any([this.rules.signal, AbortSignal.timeout(REQUEST_MS)]),
      });
      const text = await boundedText(answer.body, url);
      const answered = [...answer.headers].filter(([name]) => !/^content-(length|enc)/.test(name));
      return new Response(
        NO_BODY.has(answer.status)
          ? null
          : method === 'GET'
            ? text
            : this.withoutSecrets(text, answer.ok),
        { status: answer.status, headers: answered },
      );
    } catch (error) {
      throw this.explained(error, url);
    } finally {
      await agent?.destroy();
    }
  };

  refuseInsecure({ protocol, hostname, host }: URL): void {
    if (protocol === 'https:') return;
    if (protocol === 'http:' && (this.rules.allowInsecureHttp || isLoopbackHost(hostname))) return;
    throw new UrlRefused(`${host} is not reached by https:`);
  }

  private explained(error: unknown, { host }: URL): Error {
    const refused = [error, error instanceof Error && error.cause].find(
      (one) => one instanceof UrlRefused,
    );
    if (refused instanceof UrlRefused) return refused;
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    const code = typeof cause === 'object' && cause !== null && 'code' in cause && cause.code;
    const why = typeof code === 'string' ? code : 'no answer in time';
    this.failure = new TypeError(`${host} cannot be reached (${why})`, { cause: error });
    return this.failure;
  }

  /** Those that will be connected to: looked up once, so that they cannot be others by then. */
  private async addressesOf({ hostname, host }: URL): Promise<LookupAddress[]> {
    const addresses = await lookup(hostname.replace(/^\[|\]$/g, ''), { all: true });
    const { trusted } = this.rules;
    if (trusted.some((url) => url.hostname === hostname)) return addresses;
    const server = trusted[0] ? await reachOfHost(trusted[0].hostname) : 'public';
    if (addresses.every(({ address }) => mayName(server, reachOf(address)))) return addresses;
    throw new UrlRefused(
      `${host} is in a network that the server must not send us to; if it is its authorization server, name it as "issuer" under "oauth"`,
    );
  }

  /** Of a refusal only what OAuth says it has is kept: the SDK writes it to the log. */
  private withoutSecrets(text: string, ok: boolean): string {
    const json = parsed(text);
    const isError = isJsonObject(json) && 'error' in json;
    if (ok && !isError) return text;
    const error = isError && typeof json['error'] === 'string' ? json['error'] : 'server_error';
    const description = isError ? json['error_description'] : undefined;
    return JSON.stringify({
      error: this.rules.redact(error).slice(0, MAX_DESCRIPTION_CHARS),
      ...(typeof description === 'string' && {
        error_description: this.rules.redact(description).slice(0, MAX_DESCRIPTION_CHARS),
      }),
    });
  }
}

function always(addresses: LookupAddress[]): LookupFunction {
  return (_hostname, options, callback) => {
    const [first] = addresses;
    if (options.all || !first) callback(null, addresses);
    else callback(null, first.address, first.family);
  };
}

function bodyText(body: NonNullable<RequestInit['body']>): string {
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new Error('the SDK sends a body of another kind');
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

async function boundedText(body: AsyncIterable<Uint8Array> | null, url: URL): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body ?? []) {
    size += part.length;
    if (size > MAX_BODY_BYTES) {
      throw new UrlRefused(`${url.host} answers with more than ${MAX_BODY_BYTES} bytes`);
    }
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
