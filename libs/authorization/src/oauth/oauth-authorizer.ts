import { computeScopeUnion, isStrictScopeSuperset } from '@modelcontextprotocol/client';
import {
  AuthorizationFailed,
  AuthorizationNeeded,
  type Authorizer,
  ConnectFailed,
  type Refusal,
} from '@app/mcp-client';
import {
  type AttemptOptions,
  authorize,
  bindingOf,
  type Challenge,
  challengeOf,
  isUnattended,
  NO_OAUTH,
  type OAuthOptions,
  type OAuthTarget,
} from './authorize.js';
import {
  type AuthorizationMemory,
  type OAuthState,
  readState,
  stateAsJson,
} from './oauth-state.js';

/** A token this close to its expiry is renewed before use. */
const SPARE_MS = 30_000;
/** The parameters of the callback. */
export interface AuthorizationAnswer {
  readonly code: string | undefined;
  readonly iss: string | undefined;
}

/**
 * The credentials for one server by the MCP authorization specification. The SDK implements the protocol; this
 * class decides when it runs, what is stored and which errors callers get.
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
      // The old token may still be valid; if it is not, the server answers 401.
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

  /** The URL where a person can consent; opens a consent request if there is none. */
  async question(): Promise<{ url: string; until: number }> {
    if (this.isUnattended)
      throw new AuthorizationFailed(401, 'its grant needs no consent of a person');
    return this.memory.alone(async () => {
      await this.recall();
      if (!this.openQuestion) {
        const challenge = this.state.challenge ?? {};
        const asked = await this.attempt(401, challenge, { forceReauthorization: true });
        if (asked === 'no-oauth') throw new AuthorizationFailed(401, NO_OAUTH);
      }
      const { question } = this.state;
      if (!question)
        throw new AuthorizationFailed(401, 'its authorization server asked for no consent');
      return { url: question.url, until: question.until };
    });
  }

  /** Handles the callback. Any answer, also a wrong one, closes the consent request. */
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
      await this.persist(true);
    });
  }

  private async renewAlone(refusal: Refusal, challenged: Challenge): Promise<boolean> {
    await this.recall();
    if (this.header !== refusal.sent) return true;
    const isStepUp = refusal.status === 403;
    const granted = this.state.tokens?.scope;
    const configured = this.target.oauth?.scope;
    // The configured scope may be smaller than the challenged one, until a step-up requires more.
    const wanted = configured && !isStepUp ? configured : challenged.scope;
    const scope = computeScopeUnion(granted, wanted);
    // Consent to scopes that are already granted would change nothing.
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

  private attempt(
    status: number,
    challenge: Challenge,
    how: AttemptOptions,
    answered?: OAuthState['question'],
  ): ReturnType<typeof authorize> {
    const { target, state, options } = this;
    const persist = (): Promise<void> => this.persist();
    return authorize({ target, state, options, persist }, { status, challenge, how, answered });
  }

  private get openQuestion(): OAuthState['question'] {
    const { question } = this.state;
    return question && question.until > this.options.now() ? question : undefined;
  }

  private get isUnattended(): boolean {
    return isUnattended(this.target);
  }

  private get binding(): string {
    return bindingOf(this.target);
  }

  private async recall(): Promise<void> {
    this.state = readState(await this.memory.load(), this.binding);
  }

  private persist(isGranted = false): Promise<void> {
    const { question, needed, tokens, expiresAt } = this.state;
    return this.memory.save({
      state: stateAsJson(this.state),
      needed,
      scope: tokens?.scope,
      expiresAt,
      isGranted,
      question: question
        ? { url: question.url, until: question.until, secret: question.state_secret }
        : null,
    });
  }
}
