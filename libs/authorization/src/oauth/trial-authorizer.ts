import { AuthorizationNeeded, type Authorizer, type Refusal } from '@app/mcp-client';
import {
  bindingOf,
  challengeOf,
  discoverIssuer,
  type OAuthOptions,
  type OAuthTarget,
} from './authorize.js';
import { readState } from './oauth-state.js';
import type { AuthorizationMemory } from './oauth-state.js';

/**
 * For a configuration that is tried out: uses a token that is stored and valid, and otherwise finds out where a person
 * would have to log in. Nothing is registered, renewed or stored: a refresh token that is used up here would be missed.
 */
export class TrialAuthorizer implements Authorizer {
  /** The authorization server, once the server has refused a request. */
  issuer: string | undefined;

  private constructor(
    private readonly target: OAuthTarget,
    private readonly options: OAuthOptions,
    readonly header: string | undefined,
  ) {}

  static async open(
    target: OAuthTarget,
    memory: Pick<AuthorizationMemory, 'load'>,
    options: OAuthOptions,
  ): Promise<TrialAuthorizer> {
    const { tokens, expiresAt = Infinity } = readState(await memory.load(), bindingOf(target));
    const isValid = tokens !== undefined && options.now() < expiresAt;
    return new TrialAuthorizer(
      target,
      options,
      isValid ? `Bearer ${tokens.access_token}` : undefined,
    );
  }

  ready(): undefined {
    return undefined;
  }

  async renew(refusal: Refusal): Promise<boolean> {
    const { status } = refusal;
    const { error, resourceMetadataUrl } = challengeOf(refusal);
    const isAboutTokens = status === 401 || (status === 403 && error === 'insufficient_scope');
    if (!isAboutTokens) return false;
    const { target, options } = this;
    this.issuer = await discoverIssuer(target, options, {
      status,
      resourceMetadataUrl: resourceMetadataUrl?.href,
    });
    if (this.issuer === undefined) return false;
    throw new AuthorizationNeeded(status, options.serverName);
  }
}
