import { Inject, Injectable } from '@nestjs/common';
import { CallerTokens, type Person } from '@app/access';
import { AuthorizationFailed, type Authorizer, ConnectFailed, type Refusal } from '@app/mcp-client';
import { Clock, cutText, Egress, Env, isJsonObject } from '@app/platform';
import type { ExchangeSettings, ResolvedTransport, Server } from '@app/registry';
import { z } from 'zod';
import { GuardedFetch } from '../fetch/guarded-fetch.js';
import { ExchangeImpossible } from './persons.errors.js';

const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const JWT = 'urn:ietf:params:oauth:token-type:jwt';
const TURN_MS = 10_000;
/** A token is exchanged again this long before it ends. */
const SPARE_MS = 60_000;
/** Of a token that does not say when it ends. */
const UNKNOWN_LIFE_MS = 60_000;
const MAX_KEPT = 10_000;
const MAX_REASON_CHARS = 300;

/** RFC 8693 §2.2.1. */
const answerSchema = z.object({
  access_token: z
    .string()
    .regex(/^[\x21-\x7e]+$/)
    .max(32_768),
  issued_token_type: z.enum([ACCESS_TOKEN, JWT]),
  token_type: z.string().regex(/^bearer$/i),
  expires_in: z.number().positive().optional(),
});

interface Exchanged {
  readonly header: string;
  /** When to exchange again, in ms since the epoch. */
  readonly until: number;
  readonly binding: string;
}

type Remote = Extract<ResolvedTransport, { kind: 'SSE' | 'HTTP' }>;

interface Exchange {
  readonly key: string;
  readonly server: Pick<Server, 'id' | 'name'>;
  readonly person: Person;
  readonly settings: ExchangeSettings;
  readonly url: string;
}

/** Tokens of servers that were got for JWTs of callers (RFC 8693), in memory until shortly before they end. */
@Injectable()
export class ExchangedTokens {
  private readonly kept = new Map<string, Exchanged>();
  private readonly running = new Map<string, Promise<void>>();

  constructor(
    private readonly callers: CallerTokens,
    private readonly egress: Egress,
    private readonly clock: Clock,
    @Inject(Env) private readonly env: Env,
  ) {}

  /** The credentials of one person at one server. */
  authorizer(
    server: Pick<Server, 'id' | 'name'>,
    person: Person,
    { url, exchange: settings }: Remote,
  ): Authorizer {
    if (!settings) throw new ConnectFailed('its configuration has no exchange');
    const key = `${server.id} ${person.subject}`;
    const about = { key, server, person, settings, url };
    const header = (): string | undefined => this.current(about)?.header;
    return {
      get header() {
        return header();
      },
      ready: () => {
        const known = this.current(about);
        return known && this.now() < known.until ? undefined : this.exchange(about);
      },
      renew: async ({ status, sent }: Refusal) => {
        if (status !== 401) return false;
        if (header() === sent) await this.exchange(about);
        return true;
      },
    };
  }

  private current(about: Exchange): Exchanged | undefined {
    const known = this.kept.get(about.key);
    return known?.binding === bindingOf(about) ? known : undefined;
  }

  /** Calls of one person at the same time share one exchange. */
  private exchange(about: Exchange): Promise<void> {
    const binding = bindingOf(about);
    const flight = `${about.key} ${binding}`;
    const running = this.running.get(flight) ?? this.request(about, binding);
    this.running.set(flight, running);
    return running.finally(() => {
      if (this.running.get(flight) === running) this.running.delete(flight);
    });
  }

  private async request(about: Exchange, binding: string): Promise<void> {
    const { key, server, person, settings } = about;
    const subjectToken = this.callers.of(person.subject);
    if (subjectToken === undefined) throw new ExchangeImpossible(server, person.name);
    const { client_id: id, client_secret: secret, audience = about.url, scope } = settings;
    const secrets = [subjectToken, secret].filter((one) => one !== undefined);
    const guarded = new GuardedFetch({
      trusted: [new URL(settings.token_url)],
      allowInsecureHttp: this.env.MCP_AGGREGATOR_ALLOW_INSECURE_HTTP,
      egress: this.egress,
      signal: AbortSignal.timeout(TURN_MS),
      redact: (text) => without(text, secrets),
    });
    const body = new URLSearchParams({
      grant_type: GRANT,
      subject_token: subjectToken,
      subject_token_type: JWT,
      requested_token_type: ACCESS_TOKEN,
      audience,
      ...(scope !== undefined && { scope }),
      ...(id !== undefined && secret === undefined && { client_id: id }),
    });
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      ...(id !== undefined && secret !== undefined && { authorization: basic(id, secret) }),
    };
    const answer = await this.answerOf(guarded, settings.token_url, { headers, body }, secrets);
    if (answer.access_token === subjectToken) {
      throw new AuthorizationFailed(401, 'the token of the caller came back unchanged');
    }
    const life =
      answer.expires_in === undefined ? UNKNOWN_LIFE_MS : answer.expires_in * 1_000 - SPARE_MS;
    this.keep(key, { header: `Bearer ${answer.access_token}`, until: this.now() + life, binding });
  }

  private async answerOf(
    guarded: GuardedFetch,
    url: string,
    request: Pick<RequestInit, 'headers' | 'body'>,
    secrets: readonly string[],
  ): Promise<z.infer<typeof answerSchema>> {
    const response = await guarded
      .fetch(url, { method: 'POST', ...request })
      .catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        throw new ConnectFailed(
          `the exchange of a token: ${told(reason, secrets)}`,
          guarded.failure,
        );
      });
    const json: unknown = await response.json().catch(() => undefined);
    if (!response.ok) {
      const error =
        isJsonObject(json) && typeof json['error'] === 'string' ? json['error'] : 'no reason';
      throw new AuthorizationFailed(401, `the exchange of a token: ${told(error, secrets)}`);
    }
    const parsed = answerSchema.safeParse(json);
    if (parsed.success) return parsed.data;
    const fields = parsed.error.issues.map(({ path }) => path.join('.')).join(', ');
    throw new AuthorizationFailed(
      401,
      `the exchange of a token gave none that can be used: ${fields}`,
    );
  }

  private keep(key: string, exchanged: Exchanged): void {
    this.kept.delete(key);
    this.kept.set(key, exchanged);
    const [oldest] = this.kept.keys();
    if (this.kept.size > MAX_KEPT && oldest !== undefined) this.kept.delete(oldest);
  }

  private now(): number {
    return this.clock.now().getTime();
  }
}

/** A token is for one place, got in one way. */
function bindingOf({ settings, url }: Exchange): string {
  return JSON.stringify([url, settings]);
}

/** RFC 6749 §2.3.1: both are form-encoded first. */
function basic(id: string, secret: string): string {
  const pair = [id, secret].map((one) => encodeURIComponent(one)).join(':');
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

function told(reason: string, secrets: readonly string[]): string {
  return cutText(without(reason, secrets).replace(/\s+/g, ' '), MAX_REASON_CHARS);
}

function without(text: string, secrets: readonly string[]): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, '********'), text);
}
