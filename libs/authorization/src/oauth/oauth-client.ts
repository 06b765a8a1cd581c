import type { OAuthSettings } from '@app/registry';
import {
  type AddClientAuthentication,
  createPrivateKeyJwtAuth,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
  type StoredOAuthClientInformation,
} from '@modelcontextprotocol/client';
import { randomBytes } from 'node:crypto';
import { clientMetadata, type OAuthIdentity } from './oauth-identity.js';
import type { OAuthState } from './oauth-state.js';

/** Time for a person to consent. */
const QUESTION_MS = 3_600_000;
/** Longer than real tokens, shorter than the header limit of servers. */
const MAX_TOKEN_CHARS = 32_768;

interface Turn {
  readonly state: OAuthState;
  readonly settings: OAuthSettings | undefined;
  readonly identity: OAuthIdentity;
  readonly discovery: OAuthDiscoveryState;
  /** Requests consent even if there is a token. */
  readonly forceReauthorization: boolean;
  /** Set after the callback. */
  readonly answered?: OAuthState['question'];
  readonly now: () => number;
  readonly persist: () => Promise<void>;
  /** Throws when consent must not be requested, or not at this URL. */
  readonly beforeAsking: (url: URL) => void;
}

/** The client side of the SDK's `auth()` for one turn: all results go into the state. */
export class OAuthClient implements OAuthClientProvider {
  readonly clientMetadataUrl?: string;
  readonly addClientAuthentication?: AddClientAuthentication;
  readonly prepareTokenRequest?: (scope?: string) => URLSearchParams;
  /** Absent for a client registered in advance: dynamic registration must not replace it. */
  readonly saveClientInformation?: (information: StoredOAuthClientInformation) => Promise<void>;
  private verifier = '';
  private secret = '';

  constructor(private readonly turn: Turn) {
    const { settings, identity } = turn;
    const { client_id: id, private_key: privateKey, algorithm: alg } = settings ?? {};
    if (identity.clientMetadataUrl) this.clientMetadataUrl = identity.clientMetadataUrl;
    if (id && privateKey && alg) {
      this.addClientAuthentication = createPrivateKeyJwtAuth({
        ...{ issuer: id, subject: id, privateKey, alg },
      });
    }
    if (this.isUnattended) {
      this.prepareTokenRequest = (scope) =>
        new URLSearchParams({ grant_type: 'client_credentials', ...(scope && { scope }) });
    }
    if (!id) {
      this.saveClientInformation = async (information) => {
        turn.state.client = { as: this.selfDescription, information };
        await turn.persist();
      };
    }
  }

  get redirectUrl(): string | undefined {
    if (this.isUnattended) return undefined;
    return this.turn.answered?.redirectUrl ?? this.turn.identity.redirectUrl;
  }

  get clientMetadata(): OAuthClientMetadata {
    const { identity, settings } = this.turn;
    const scope = settings?.scope && { scope: settings.scope };
    if (!this.isUnattended) return { ...clientMetadata(identity), ...scope };
    return { redirect_uris: [], grant_types: ['client_credentials'], ...scope };
  }

  state(): string {
    this.secret = randomBytes(32).toString('base64url');
    return this.secret;
  }

  clientInformation(): StoredOAuthClientInformation | undefined {
    const { state, settings } = this.turn;
    if (settings?.client_id) {
      const { client_id, client_secret, issuer = state.issuer } = settings;
      return { client_id, ...(client_secret && { client_secret }), ...(issuer && { issuer }) };
    }
    // Issued client credentials work from any address; only a new consent request has to redirect to us.
    const { answered, forceReauthorization } = this.turn;
    const mayRefresh = state.tokens?.refresh_token !== undefined && !forceReauthorization;
    const fits = answered !== undefined || mayRefresh || state.client?.as === this.selfDescription;
    return fits ? state.client?.information : undefined;
  }

  tokens(): OAuthState['tokens'] {
    return this.turn.state.tokens;
  }

  async saveTokens(tokens: OAuthTokens & { issuer?: string }): Promise<void> {
    const { state, now, persist, answered } = this.turn;
    if (tokens.token_type.toLowerCase() !== 'bearer') {
      throw new Error(`the token is of the type ${tokens.token_type}, not Bearer`);
    }
    if (
      !/^[\x21-\x7e]+$/.test(tokens.access_token) ||
      tokens.access_token.length > MAX_TOKEN_CHARS
    ) {
      throw new Error('the token is none that can be sent');
    }
    // A missing scope means that the requested scope was granted (RFC 6749 §5.1).
    const scope = tokens.scope ?? answered?.scope ?? state.tokens?.scope;
    state.tokens = { ...tokens, ...(scope && { scope }) };
    delete state.expiresAt;
    if (tokens.expires_in !== undefined) state.expiresAt = now() + tokens.expires_in * 1_000;
    if (this.turn.settings?.client_id && tokens.issuer) state.issuer ??= tokens.issuer;
    delete state.question;
    state.needed = false;
    await persist();
  }

  saveCodeVerifier(verifier: string): void {
    this.verifier = verifier;
  }

  codeVerifier(): string {
    return this.turn.answered?.verifier_secret ?? this.verifier;
  }

  async redirectToAuthorization(url: URL): Promise<void> {
    const { state, identity, discovery, now, persist } = this.turn;
    this.turn.beforeAsking(url);
    const scope = url.searchParams.get('scope');
    state.question = {
      url: url.href,
      until: now() + QUESTION_MS,
      state_secret: this.secret,
      verifier_secret: this.verifier,
      redirectUrl: identity.redirectUrl,
      ...(scope && { scope }),
      discovery,
    };
    await persist();
  }

  /** Discovered in every turn, as servers may change their authorization server; a code is redeemed where it was requested. */
  discoveryState(): OAuthDiscoveryState {
    return this.turn.answered?.discovery ?? this.turn.discovery;
  }

  saveDiscoveryState(): void {}

  async invalidateCredentials(
    what: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery',
  ): Promise<void> {
    const { state, persist, answered } = this.turn;
    if (what === 'all' || what === 'client') delete state.client;
    // An invalid code says nothing about the earlier token.
    if (!answered && (what === 'all' || what === 'tokens')) delete state.tokens;
    await persist();
  }

  private get isUnattended(): boolean {
    return this.turn.settings?.grant === 'client_credentials';
  }

  /** Identifies the metadata that the client was registered with. */
  private get selfDescription(): string {
    const { redirectUrl, clientMetadataUrl = '' } = this.turn.identity;
    return `${redirectUrl} ${clientMetadataUrl}`;
  }
}
