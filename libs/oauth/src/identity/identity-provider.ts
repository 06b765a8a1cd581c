import { Injectable } from '@nestjs/common';
import { type IdTokens, openIssuer, JwtRefused } from '@app/access';
import { Clock, Egress, Env, isJsonObject, isLoopbackHost } from '@app/platform';
import type { JWTPayload } from 'jose';
import { z } from 'zod';
import { clientText } from '../consent/client-text.js';
import { LoginFailed } from './identity.errors.js';
import { type LoginAttempt, proofsOf } from './login-attempt.js';
import { askProvider, type ProviderAnswer } from './provider-fetch.js';

export const LOGIN_PATH = '/login/start';
export const CALLBACK_PATH = '/login/callback';
const METADATA_PATH = '/.well-known/openid-configuration';
const METADATA_MS = 3_600_000;
/** Pause after metadata could not be read, so that not every login waits for them. */
const RETRY_AFTER_MS = 10_000;
const MAX_AT_ONCE = 16;
/** Others can log in while one network waits for the provider. */
const MAX_OF_NETWORK = 8;
const MAX_REASON_CHARS = 200;
const MAX_CODE_CHARS = 4_000;

const metadataSchema = z.object({
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  jwks_uri: z.string(),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  authorization_response_iss_parameter_supported: z.boolean().optional(),
});
const tokensSchema = z.object({ id_token: z.string().max(100_000) });

interface Metadata {
  readonly authorize: URL;
  readonly token: URL;
  readonly authMethods: readonly string[];
  readonly namesIssuer: boolean;
  readonly keysUrl: URL;
  readonly idTokens: IdTokens;
  /** Monotonic. */
  readonly readAt: number;
}

interface Settled {
  readonly issuer: string;
  readonly clientId: string;
  readonly publicUrl: string;
}

/** Where people log in by OpenID Connect: a code with PKCE, and an ID token that only this login can have. */
@Injectable()
export class IdentityProvider {
  /** The last that was right, also after a failure. */
  private known: Metadata | undefined;
  private reading: Promise<Metadata> | undefined;
  private failure: { readonly error: unknown; readonly at: number } | undefined;
  /** Networks of the logins that wait for the provider. */
  private readonly running: string[] = [];

  constructor(
    private readonly env: Env,
    private readonly egress: Egress,
    private readonly clock: Clock,
  ) {}

  /** For people: its host; undefined if none is configured. */
  get name(): string | undefined {
    const { MCP_AGGREGATOR_LOGIN_ISSUER: issuer } = this.env;
    return issuer === undefined ? undefined : new URL(issuer).host;
  }

  get publicUrl(): string {
    return this.settled.publicUrl;
  }

  /** The address at the identity provider where the login begins. Rejects with LoginFailed. */
  async begin(attempt: LoginAttempt, network: string): Promise<string> {
    const { authorize } = await this.limited(network, () => this.current());
    const { state, nonce, challenge } = proofsOf(attempt);
    const url = new URL(authorize);
    for (const [name, value] of Object.entries({
      response_type: 'code',
      client_id: this.settled.clientId,
      redirect_uri: this.redirectUri,
      scope: this.env.MCP_AGGREGATOR_LOGIN_SCOPES,
      state,
      nonce,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    })) {
      url.searchParams.set(name, value);
    }
    return url.href;
  }

  /** The claims of the ID token that belongs to an answer of the provider. Rejects with LoginFailed. */
  async finish(
    attempt: LoginAttempt,
    answer: URLSearchParams,
    network: string,
  ): Promise<JWTPayload> {
    return this.limited(network, async () => {
      const metadata = await this.current();
      this.refuseMixUp(metadata, answer.get('iss'));
      const error = answer.get('error');
      if (error !== null) {
        const why = clientText(answer.get('error_description') ?? error, MAX_REASON_CHARS);
        throw new LoginFailed(`${this.name} did not log you in: ${why}`, 403);
      }
      const code = answer.get('code') ?? '';
      if (code === '' || code.length > MAX_CODE_CHARS) {
        throw new LoginFailed(
          `The answer of ${this.name} has no code. Begin the login again.`,
          400,
        );
      }
      const token = await this.redeem(metadata, attempt, code);
      return this.read(metadata, attempt, token);
    });
  }

  private get settled(): Settled {
    const {
      MCP_AGGREGATOR_LOGIN_ISSUER: issuer,
      MCP_AGGREGATOR_LOGIN_CLIENT_ID: clientId,
      MCP_AGGREGATOR_PUBLIC_URL: publicUrl,
    } = this.env;
    if (issuer === undefined || clientId === undefined || publicUrl === undefined) {
      throw new Error('no identity provider is configured');
    }
    return { issuer, clientId, publicUrl };
  }

  private get redirectUri(): string {
    return this.settled.publicUrl + CALLBACK_PATH;
  }

  /** The answer of another provider must not get the code of this one, or the other way round (RFC 9207). */
  private refuseMixUp({ namesIssuer }: Metadata, given: string | null): void {
    const { issuer } = this.settled;
    if (given === issuer || (given === null && !namesIssuer)) return;
    throw new LoginFailed(`The answer is not one of ${this.name}. Begin the login again.`, 400);
  }

  private async redeem(metadata: Metadata, attempt: LoginAttempt, code: string): Promise<string> {
    const { clientId } = this.settled;
    const secret = this.env.MCP_AGGREGATOR_LOGIN_CLIENT_SECRET;
    const isInBody = secret === undefined || !metadata.authMethods.includes('client_secret_basic');
    const fields = new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: this.redirectUri,
      code_verifier: proofsOf(attempt).verifier,
      ...(isInBody && { client_id: clientId }),
      ...(isInBody && secret !== undefined && { client_secret: secret }),
    });
    const answer = await askProvider(this.egress, metadata.token, {
      fields,
      ...(!isInBody && { authorization: basic(clientId, secret) }),
    });
    const tokens = tokensSchema.safeParse(answer.json);
    if (answer.status === 200 && tokens.success) return tokens.data.id_token;
    const why = reasonIn(answer);
    throw new LoginFailed(
      `${this.name} gave no ID token (${why}). Begin the login again; if it fails again, an administrator has to compare the client of this service there with MCP_AGGREGATOR_LOGIN_CLIENT_ID and its secret.`,
      502,
    );
  }

  private async read(
    { idTokens }: Metadata,
    attempt: LoginAttempt,
    token: string,
  ): Promise<JWTPayload> {
    const claims = await idTokens.read(token).catch((error: unknown) => {
      if (!(error instanceof JwtRefused)) throw error;
      throw this.untrusted(error.message);
    });
    const { clientId } = this.settled;
    const audiences = [claims.aud ?? []].flat();
    if (!audiences.includes(clientId)) throw this.untrusted('it is for another client');
    const { azp, nonce } = claims;
    const isMine = azp === undefined ? audiences.length === 1 : azp === clientId;
    if (!isMine) throw this.untrusted('it was given to another client');
    if (nonce !== proofsOf(attempt).nonce) throw this.untrusted('it belongs to another login');
    return claims;
  }

  private untrusted(why: string): LoginFailed {
    return new LoginFailed(
      `The ID token of ${this.name} is not accepted: ${why}. Begin the login again.`,
      502,
    );
  }

  /** Strangers who begin many logins at once shall not cause as many requests. */
  private async limited<Result>(network: string, work: () => Promise<Result>): Promise<Result> {
    const { running } = this;
    const own = running.filter((one) => one === network).length;
    if (running.length >= MAX_AT_ONCE || own >= MAX_OF_NETWORK) {
      throw new LoginFailed('Too many people are logging in. Try again in a few seconds.', 503);
    }
    running.push(network);
    try {
      return await work();
    } finally {
      running.splice(running.indexOf(network), 1);
    }
  }

  private async current(): Promise<Metadata> {
    const { known, failure } = this;
    const now = this.clock.monotonic();
    if (known && now - known.readAt < METADATA_MS) return known;
    if (failure && now - failure.at < RETRY_AFTER_MS) return this.inPlaceOf(failure.error);
    this.reading ??= this.readMetadata().finally(() => (this.reading = undefined));
    try {
      return await this.reading;
    } catch (error) {
      return this.inPlaceOf(error);
    }
  }

  /** What was read before is better than nothing; its keys are fetched when they change. */
  private inPlaceOf(error: unknown): Metadata {
    if (this.known) return this.known;
    throw error;
  }

  private async readMetadata(): Promise<Metadata> {
    try {
      this.known = await this.askMetadata();
      this.failure = undefined;
      return this.known;
    } catch (error) {
      this.failure = { error, at: this.clock.monotonic() };
      throw error;
    }
  }

  private async askMetadata(): Promise<Metadata> {
    const { issuer } = this.settled;
    const address = new URL(issuer.replace(/\/$/, '') + METADATA_PATH);
    const answer = await askProvider(this.egress, address);
    const read = metadataSchema.safeParse(answer.json);
    if (answer.status !== 200 || !read.success || read.data.issuer !== issuer) {
      throw new LoginFailed(
        `${address.href} is not the metadata of ${issuer}. An administrator has to correct MCP_AGGREGATOR_LOGIN_ISSUER.`,
        502,
      );
    }
    const { data } = read;
    const keysUrl = this.endpoint(data.jwks_uri);
    return {
      authorize: this.endpoint(data.authorization_endpoint),
      token: this.endpoint(data.token_endpoint),
      // The default of OpenID Connect Discovery.
      authMethods: data.token_endpoint_auth_methods_supported ?? ['client_secret_basic'],
      namesIssuer: data.authorization_response_iss_parameter_supported === true,
      keysUrl,
      idTokens: await this.keysAt(keysUrl),
      readAt: this.clock.monotonic(),
    };
  }

  /** The keys that were fetched are used on while their address is the same. */
  private async keysAt(keysUrl: URL): Promise<IdTokens> {
    const { known } = this;
    if (known?.keysUrl.href === keysUrl.href) return known.idTokens;
    const { issuer: name } = this.settled;
    const origin = { name, keysUrl, setting: 'MCP_AGGREGATOR_LOGIN_ISSUER' };
    return openIssuer(origin, this.clock, this.egress);
  }

  private endpoint(address: string): URL {
    const url = URL.canParse(address) ? new URL(address) : undefined;
    const isSafe =
      url?.protocol === 'https:' ||
      (url?.protocol === 'http:' &&
        (isLoopbackHost(url.hostname) || this.env.MCP_AGGREGATOR_ALLOW_INSECURE_HTTP));
    if (url && isSafe) return url;
    throw new LoginFailed(`${this.name} names an endpoint that is not reached by https:`, 502);
  }
}

function basic(clientId: string, secret = ''): string {
  const pair = [clientId, secret].map(encodeURIComponent).join(':');
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

function reasonIn({ status, json }: ProviderAnswer): string {
  const error = isJsonObject(json) ? json['error'] : undefined;
  return clientText(typeof error === 'string' ? error : `status ${status}`, MAX_REASON_CHARS);
}
