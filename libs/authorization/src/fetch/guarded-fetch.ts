import {
  boundedText,
  cutText,
  type Egress,
  EgressRefused,
  isJsonObject,
  isLoopbackHost,
  type JsonValue,
  TooLong,
} from '@app/platform';
import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { Agent } from 'undici';
import { mayName, nearest, reachOf } from './reach.js';

const MAX_BODY_BYTES = 262_144;
const REQUEST_MS = 10_000;
const MAX_DESCRIPTION_CHARS = 300;
const NO_BODY = new Set([101, 204, 205, 304]);

export interface FetchRules {
  /** The server, and a configured authorization server: named by a person, not by a server. */
  readonly trusted: readonly URL[];
  readonly allowInsecureHttp: boolean;
  /** Also applies to configured URLs. */
  readonly egress: Egress;
  /** Covers all requests of one turn. */
  readonly signal: AbortSignal;
  /** Removes secrets from messages of an authorization server. */
  redact(text: string): string;
}

/** A `TypeError`, because on other errors the SDK tries other URLs instead of giving up. */
export class UrlRefused extends TypeError {}

/**
 * The fetch function of the SDK for metadata and tokens. The URLs come from a server, so they may only lead where
 * the server itself could be, over TLS, to answers that are bounded in size and time.
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
      const text = await boundedText(answer.body, url.host, MAX_BODY_BYTES);
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

  private explained(error: unknown, url: URL): Error {
    const { host } = url;
    const refused = [error, error instanceof Error && error.cause].find(
      (one) => one instanceof UrlRefused,
    );
    if (refused instanceof UrlRefused) return refused;
    if (error instanceof EgressRefused) return this.refusal(url, error.message);
    if (error instanceof TooLong) return new UrlRefused(error.message);
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    const code = typeof cause === 'object' && cause !== null && 'code' in cause && cause.code;
    const why = typeof code === 'string' ? code : 'no answer in time';
    this.failure = new TypeError(`${host} cannot be reached (${why})`, { cause: error });
    return this.failure;
  }

  private isTrusted(hostname: string): boolean {
    return this.rules.trusted.some((url) => url.hostname === hostname);
  }

  private refusal({ host, hostname }: URL, problem: string): UrlRefused {
    if (this.isTrusted(hostname)) return new UrlRefused(problem);
    return new UrlRefused(
      `${host} is in a network that the server must not send us to: ${problem}`,
    );
  }

  /** Resolves once and connects to these addresses, so that DNS rebinding cannot change them. */
  private async addressesOf({ hostname, host }: URL): Promise<LookupAddress[]> {
    const { trusted, egress } = this.rules;
    const addresses = await egress.addressesOf(hostname);
    if (this.isTrusted(hostname)) return addresses;
    const server = trusted[0] ? nearest(await egress.addressesOf(trusted[0].hostname)) : 'public';
    if (addresses.every(({ address }) => mayName(server, reachOf(address)))) return addresses;
    throw new UrlRefused(
      `${host} is in a network that the server must not send us to; if it is its authorization server, name it as "issuer" under "oauth"`,
    );
  }

  /** Keeps only the OAuth fields of a refusal: the SDK writes it to the log. */
  private withoutSecrets(text: string, ok: boolean): string {
    const json = parsed(text);
    const isError = isJsonObject(json) && 'error' in json;
    if (ok && !isError) return text;
    const error = isError && typeof json['error'] === 'string' ? json['error'] : 'server_error';
    const description = isError ? json['error_description'] : undefined;
    return JSON.stringify({
      error: cutText(this.rules.redact(error), MAX_DESCRIPTION_CHARS),
      ...(typeof description === 'string' && {
        error_description: cutText(this.rules.redact(description), MAX_DESCRIPTION_CHARS),
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
