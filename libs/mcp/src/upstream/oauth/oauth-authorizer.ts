import {
  auth,
  computeScopeUnion,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  isStrictScopeSuperset,
  IssuerMismatchError,
  type AuthOptions,
} from '@modelcontextprotocol/client';
import { AppError } from '@app/platform';
import { AuthorizationFailed, AuthorizationNeeded, ConnectFailed } from '../upstream.errors.js';
import type { Authorizer, Refusal } from './authorizer.js';
import { GuardedFetch } from './guarded-fetch.js';
import { OAuthClient } from './oauth-client.js';
import type { OAuthIdentity } from './oauth-identity.js';
import {
  type AuthorizationMemory,
  type OAuthSettings,
  type OAuthState,
  readState,
  secretsIn,
  stateAsJson,
} from './oauth-state.js';

/** A token this close to its end is renewed before it is used. */
const SPARE_MS = 30_000;
/** Metadata, registration and token together. */
const TURN_MS = 20_000;
const MAX_REASON_CHARS = 300;
const NO_OAUTH = 'neither the server nor its origin has metadata of OAuth';

export interface OAuthTarget {
  readonly url: string;
  readonly oauth?: OAuthSettings | undefined;
}

export interface OAuthOptions {
  /** For messages. */
  readonly serverName: string;
  readonly allowInsecureHttp: boolean;
  /** Undefined until the service listens. */
  identity(): OAuthIdentity | undefined;
  now(): number;
}

/** What came back to the callback address. */
export interface AuthorizationAnswer {
  readonly code: string | undefined;
  readonly iss: string | undefined;
}

interface Challenge {
  readonly scope?: string | undefined;
  readonly resourceMetadataUrl?: string | undefined;
}

/**
 * The credentials for one server by the MCP authorization specification. The protocol is the SDK's; here
 * is when it runs, what is kept, and what others are told.
 */
export class OAuthAuthorizer implements Authorizer {
  private state: OAuthState;
  private renewing: Promise<boolean> | undefined;

  private constructor(
    private readonly target: OAuthTarget,
    private readonly memory: AuthorizationMemory,
    private readonly options: OAuthOptions,
  ) {
    this.state = readState(undefined, this.binding);
  }

  static async open(
    target: OAuthTarget,
    memory: AuthorizationMemory,
    options: OAuthOptions,
  ): Promise<OAuthAuthorizer> {
    const authorizer = new OAuthAuthorizer(target, memory, options);
    await authorizer.recall();
    return authorizer;
  }

  get header(): string | undefined {
    const { tokens } = this.state;
    return tokens && `Bearer ${tokens.access_token}`;
  }

  ready(): Promise<void> | undefined {
    const { tokens, expiresAt } = this.state;
    if (!tokens || expiresAt === undefined) return undefined;
    if (this.options.now() < expiresAt - SPARE_MS) return undefined;
    return tokens.refresh_token || this.isUnattended ? this.renewEarly() : undefined;
  }

  private async renewEarly(): Promise<void> {
    try {
      await this.renew({ status: 401, challenge: undefined, sent: this.header });
    } catch (error) {
      // The old token may still do, and if not, the server says so.
      if (!(error instanceof ConnectFailed)) throw error;
    }
  }

  async renew(refusal: Refusal): Promise<boolean> {
    if (refusal.status !== 401 && refusal.status !== 403) return false;
    const { error, scope, resourceMetadataUrl } = challengeOf(refusal);
    if (refusal.status === 403 && error !== 'insufficient_scope') return false;
    if (this.header !== refusal.sent) return true;
    const challenge = { scope, resourceMetadataUrl: resourceMetadataUrl?.href };
    this.renewing ??= this.memory
      .alone(() => this.renewAlone(refusal, challenge))
      .finally(() => {
        this.renewing = undefined;
      });
    return this.renewing;
  }

  /** The address where a person can consent, also when nobody asked yet. */
  async question(): Promise<{ url: string; until: number }> {
    if (this.isUnattended) throw new AuthorizationFailed(401, 'its grant needs nobody to consent');
    return this.memory.alone(async () => {
      await this.recall();
      if (!this.openQuestion) {
        const challenge = this.state.challenge ?? {};
        const asked = await this.attempt(401, challenge, { forceReauthorization: true });
        if (asked === 'no-oauth') throw new AuthorizationFailed(401, NO_OAUTH);
      }
      const { question } = this.state;
      if (!question) throw new AuthorizationFailed(401, 'its authorization server asks nobody');
      return { url: question.url, until: question.until };
    });
  }

  /** A person has answered. Any answer, also a wrong one, ends the question. */
  async finish({ code, iss }: AuthorizationAnswer, secret: string): Promise<void> {
    await this.memory.alone(async () => {
      await this.recall();
      const answered = this.openQuestion;
      if (answered?.state_secret !== secret) {
        throw new AuthorizationFailed(401, 'the question is over');
      }
      delete this.state.question;
      await this.persist();
      if (code === undefined) throw new AuthorizationFailed(401, 'consent was refused');
      const answer = { authorizationCode: code, ...(iss !== undefined && { iss }) };
      await this.attempt(401, {}, answer, answered);
    });
  }

  private async renewAlone(refusal: Refusal, challenged: Challenge): Promise<boolean> {
    await this.recall();
    if (this.header !== refusal.sent) return true;
    const isStepUp = refusal.status === 403;
    const granted = this.state.tokens?.scope;
    const configured = this.target.oauth?.scope;
    // What was configured may be less than what the server names, until it insists.
    const wanted = configured && !isStepUp ? configured : challenged.scope;
    const scope = computeScopeUnion(granted, wanted);
    // More consent to what is granted already would change nothing.
    if (isStepUp && !isStrictScopeSuperset(scope, granted)) return false;
    const open = this.openQuestion;
    const mayRefresh = !isStepUp && this.state.tokens?.refresh_token !== undefined;
    if (open && !mayRefresh && !isStrictScopeSuperset(scope, open.scope ?? scope)) {
      throw new AuthorizationNeeded(refusal.status, this.options.serverName);
    }
    const challenge = { ...challenged, ...(scope && { scope }) };
    Object.assign(this.state, { challenge, needed: true });
    const outcome = await this.attempt(refusal.status, challenge, {
      forceReauthorization: isStepUp,
    });
    if (outcome === 'asked') {
      throw new AuthorizationNeeded(refusal.status, this.options.serverName);
    }
    return outcome === 'authorized';
  }

  private async attempt(
    status: number,
    { scope, resourceMetadataUrl }: Challenge,
    options: Pick<AuthOptions, 'authorizationCode' | 'iss' | 'forceReauthorization'>,
    answered?: OAuthState['question'],
  ): Promise<'authorized' | 'asked' | 'no-oauth'> {
    const identity = this.options.identity();
    if (!identity)
      throw new ConnectFailed('it wants to be authorized, and the service is starting');
    const serverUrl = this.target.url;
    const guarded = this.guardedFetch();
    const where = resourceMetadataUrl ? { resourceMetadataUrl: new URL(resourceMetadataUrl) } : {};
    const fetchFn = guarded.fetch;
    try {
      const discovery =
        answered?.discovery ?? (await discoverOAuthServerInfo(serverUrl, { ...where, fetchFn }));
      // Neither the server nor its origin says anything about OAuth: it wants something else.
      if (!discovery.resourceMetadata && !discovery.authorizationServerMetadata) {
        if (this.target.oauth) throw new Error(NO_OAUTH);
        return 'no-oauth';
      }
      const client = new OAuthClient({
        state: this.state,
        settings: this.target.oauth,
        identity,
        discovery,
        forceReauthorization: options.forceReauthorization === true,
        ...(answered && { answered }),
        now: () => this.options.now(),
        persist: () => this.persist(),
        beforeAsking: (url) => {
          // The SDK asks a person also when only the network failed.
          if (guarded.failure) throw guarded.failure;
          guarded.refuseInsecure(url);
        },
      });
      const wanted = scope ? { scope } : {};
      const result = await auth(client, { ...options, ...wanted, ...where, serverUrl, fetchFn });
      return result === 'AUTHORIZED' ? 'authorized' : 'asked';
    } catch (error) {
      throw this.explained(error, status, guarded);
    }
  }

  private explained(error: unknown, status: number, { failure }: GuardedFetch): Error {
    if (error instanceof AppError) return error;
    const reason = reasonOf(error);
    const told = this.redact(reason).replace(/\s+/g, ' ').slice(0, MAX_REASON_CHARS);
    return failure
      ? new ConnectFailed(`its authorization server: ${told}`, failure)
      : new AuthorizationFailed(status, told);
  }

  private guardedFetch(): GuardedFetch {
    const { url, oauth } = this.target;
    return new GuardedFetch({
      trusted: [url, oauth?.issuer].flatMap((one) =>
        one !== undefined && URL.canParse(one) ? [new URL(one)] : [],
      ),
      allowInsecureHttp: this.options.allowInsecureHttp,
      signal: AbortSignal.timeout(TURN_MS),
      redact: (text) => this.redact(text),
    });
  }

  private get openQuestion(): OAuthState['question'] {
    const { question } = this.state;
    return question && question.until > this.options.now() ? question : undefined;
  }

  private get isUnattended(): boolean {
    return this.target.oauth?.grant === 'client_credentials';
  }

  /** Tokens are for one server, and for one client of its authorization server. */
  private get binding(): string {
    const { url, oauth } = this.target;
    return JSON.stringify([url, oauth?.grant, oauth?.client_id, oauth?.issuer]);
  }

  private async recall(): Promise<void> {
    this.state = readState(await this.memory.load(), this.binding);
  }

  private persist(): Promise<void> {
    const { question, needed } = this.state;
    return this.memory.save({
      state: stateAsJson(this.state),
      needed,
      question: question
        ? { url: question.url, until: question.until, secret: question.state_secret }
        : null,
    });
  }

  private redact(text: string): string {
    const { client_secret, private_key } = this.target.oauth ?? {};
    return [...secretsIn(this.state), client_secret, private_key].reduce<string>(
      (told, secret) => (secret ? told.replaceAll(secret, '********') : told),
      text,
    );
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof IssuerMismatchError && error.kind === 'authorization_response') {
    // What it says of itself is for nobody to read.
    return 'the answer does not come from the authorization server that was asked';
  }
  return error instanceof Error ? error.message : String(error);
}

function challengeOf({ challenge }: Refusal): ReturnType<typeof extractWWWAuthenticateParams> {
  if (challenge === undefined) return {};
  return extractWWWAuthenticateParams(
    new Response(null, { status: 401, headers: { 'www-authenticate': challenge } }),
  );
}
