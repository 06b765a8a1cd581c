import { Injectable, Logger } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { resourceOf, SYSTEM, Tokens } from '@app/access';
import { Env, oauthIssuer, type TokenScope, tokenScopes } from '@app/platform';
import type { DispatchFunc } from 'light-my-request';
import type { Configuration, Interaction, Provider } from 'oidc-provider';
import { GRANT_IDLE_DAYS } from '../grants/client-grant.js';
import { WithdrawClientGrant } from '../grants/withdraw-client-grant.command.js';
import { ClientGrantNotFound } from '../oauth.errors.js';
import { ClientGrantStore } from '../rows/client-grant.store.js';
import { hashOf, RecordStore } from '../rows/record.store.js';
import { clientText } from '../consent/client-text.js';
import { ClientDocuments } from './client-documents.js';
import { type GrantLifecycle, RecordsAdapter } from './records-adapter.js';
import { SIGNING_ALGORITHM } from '../keys/signing-key.js';
import { SigningKeys } from '../keys/signing-keys.js';

export const ACCESS_TOKEN_SECONDS = 900;
export const COOKIES = { interaction: 'switchboard_oauth', resume: 'switchboard_oauth_resume' };
/** Column sizes in `mcp.oauth_grants`. */
const MAX_NAME_CHARS = 200;
/** Time to log in and decide. */
const INTERACTION_SECONDS = 1_800;
const DAY_SECONDS = 86_400;
/** Records of a grant outlive every refresh token of it. */
const GRANT_RECORD_SECONDS = 3_650 * DAY_SECONDS;

const TOO_MANY_CLIENTS =
  'too many clients have registered that no person gave access to; try again in 15 minutes';

/** What oidc-provider gets of a request: nothing that a proxy or the Host header says. */
export interface PlainRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Of the browser or client; what it may fetch is limited by it. */
  readonly address: string;
  readonly body?: string;
}

export interface PlainAnswer {
  readonly status: number;
  readonly location: string | undefined;
  readonly cookies: readonly string[];
  readonly wwwAuthenticate: string | undefined;
  readonly text: string;
}

/** What a client asks a person for. */
export interface ConsentRequest {
  readonly uid: string;
  readonly client: {
    readonly id: string;
    readonly name: string | null;
    readonly domain: string | null;
  };
  readonly redirectUri: string;
  readonly scopes: readonly TokenScope[];
  /** '' for the whole service, else the path of an MCP endpoint. */
  readonly resource: string;
  /** The client wants the person to be asked. */
  readonly mustAsk: boolean;
}

/**
 * OAuth 2.1 by oidc-provider, imported by the first request that needs it. Its requests are copies of those that
 * arrived, with the public address as their Host, and its answers are given by Fastify.
 */
@Injectable()
export class AuthorizationServer {
  private readonly logger = new Logger('oauth');
  private loaded: Promise<Provider> | undefined;
  /** Of the keys that it was made with. */
  private keysVersion: number | undefined;

  constructor(
    private readonly env: Env,
    private readonly keys: SigningKeys,
    private readonly records: RecordStore,
    private readonly grants: ClientGrantStore,
    private readonly documents: ClientDocuments,
    private readonly tokens: Tokens,
    private readonly commands: CommandBus,
  ) {}

  get issuer(): string {
    const issuer = oauthIssuer(this.env);
    if (issuer === undefined) throw new Error('the authorization server is off');
    return issuer;
  }

  get isTls(): boolean {
    return this.issuer.startsWith('https:');
  }

  /** Of the browser that decided. With this prefix no other host can set it. */
  get proofCookie(): string {
    return `${this.isTls ? '__Host-' : ''}switchboard_decided`;
  }

  get isLoaded(): boolean {
    return this.loaded !== undefined;
  }

  async answer({ method, url, headers, address, body }: PlainRequest): Promise<PlainAnswer> {
    const [provider, { default: inject }] = await Promise.all([
      this.provider(),
      import('light-my-request'),
    ]);
    const { host, protocol } = new URL(this.issuer);
    const handle = provider.callback();
    const dispatch: DispatchFunc = (request, response) => void handle(request, response);
    const answer = await inject(dispatch, {
      method,
      url,
      remoteAddress: address,
      headers: {
        ...headers,
        host,
        accept: 'application/json',
        'x-forwarded-proto': protocol.slice(0, -1),
      },
      ...(body !== undefined && { payload: body }),
    });
    const text = (name: string): string | undefined => {
      const value = answer.headers[name];
      return typeof value === 'string' ? value : undefined;
    };
    const isOwnCookie = (cookie: string): boolean => cookie.startsWith(COOKIES.interaction);
    return {
      status: answer.statusCode,
      location: text('location'),
      cookies: [answer.headers['set-cookie'] ?? []].flat().filter(isOwnCookie),
      wwwAuthenticate: text('www-authenticate'),
      text: answer.payload,
    };
  }

  /** Whether a refresh token is for this resource: one that is not must not be used up. */
  async isFor(refreshToken: string, resource: string): Promise<boolean> {
    const found = await this.records.find('RefreshToken', refreshToken);
    const given = [found?.payload['resource'] ?? resource].flat();
    return given.includes(resource);
  }

  /** Undefined when it was answered or has expired. */
  async consentRequest(uid: string): Promise<ConsentRequest | undefined> {
    const provider = await this.provider();
    const interaction = await provider.Interaction.find(uid);
    if (!interaction) return undefined;
    const parameter = (name: string): string => {
      const value = interaction.params[name];
      return typeof value === 'string' ? value : '';
    };
    const client = await provider.Client.find(parameter('client_id'));
    const resource = resourceOf(parameter('resource') || this.defaultResource, this.issuer);
    if (!client || resource === undefined) return undefined;
    const { clientId: id, clientName } = client;
    const scopes = parameter('scope').split(' ');
    return {
      uid,
      client: {
        id,
        name: clientText(clientName ?? '', MAX_NAME_CHARS) || null,
        domain: id.startsWith('https://') ? clientText(new URL(id).host, MAX_NAME_CHARS) : null,
      },
      redirectUri: parameter('redirect_uri'),
      scopes: tokenScopes.filter((scope) => scopes.includes(scope)),
      resource,
      mustAsk: parameter('prompt') !== '',
    };
  }

  /** Returns the address that continues the request. */
  async allow(
    { uid, client, resource }: ConsentRequest,
    { grantId, account, scopes }: GivenConsent,
    proofHash: string,
  ): Promise<string> {
    const provider = await this.provider();
    const grant = new provider.Grant({ accountId: account, clientId: client.id });
    grant.jti = grantId;
    grant.addResourceScope(`${this.issuer}${resource}`, scopes.join(' '));
    await grant.save();
    return this.finish(uid, {
      login: { accountId: account, remember: false },
      consent: { grantId },
      proofHash,
    });
  }

  async deny(uid: string, proofHash: string): Promise<string> {
    return this.finish(uid, {
      error: 'access_denied',
      error_description: 'the person did not allow it',
      proofHash,
    });
  }

  /** Whether the request may continue in the browser with these proofs: the one where it was decided. */
  async mayResume(uid: string, proofs: readonly string[]): Promise<boolean> {
    const provider = await this.provider();
    const { result } = (await provider.Interaction.find(uid)) ?? {};
    if (!result || !proofs.some((proof) => hashOf(proof) === result['proofHash'])) return false;
    const account = result.login?.accountId;
    if (account !== undefined && !this.tokens.byAccount(account)) {
      await this.finish(uid, {
        error: 'access_denied',
        error_description: 'the person has no access any more',
      });
    }
    return true;
  }

  private async finish(uid: string, result: NonNullable<Interaction['result']>): Promise<string> {
    const provider = await this.provider();
    const interaction = await provider.Interaction.find(uid);
    if (!interaction) throw new Error('the request has expired');
    interaction.result = result;
    await interaction.persist();
    return interaction.returnTo;
  }

  private get defaultResource(): string {
    return `${this.issuer}/mcp`;
  }

  private provider(): Promise<Provider> {
    // It keeps all in rows, so that another one continues from there.
    const isOfOldKeys = this.keysVersion !== undefined && this.keysVersion !== this.keys.version;
    if (isOfOldKeys) this.loaded = undefined;
    this.loaded ??= this.load().catch((error: unknown) => {
      this.loaded = undefined;
      throw error;
    });
    return this.loaded;
  }

  private async load(): Promise<Provider> {
    this.keysVersion = undefined;
    const [oidc, { keys, version }] = await Promise.all([
      import('oidc-provider'),
      this.keys.current(),
    ]);
    const lifecycle: GrantLifecycle = {
      used: (id) => this.grants.noteUse(id),
      ended: (id) => this.end(id, oidc.Provider.ctx?.oidc.route === 'revocation'),
      refuseClient: () =>
        Object.assign(new oidc.errors.TemporarilyUnavailable(TOO_MANY_CLIENTS), {
          statusCode: 503,
        }),
      refuseSecondUse: () => new oidc.errors.InvalidGrant('it was used at the same moment'),
      get isRedeeming() {
        return oidc.Provider.ctx?.oidc.route === 'token';
      },
      get network() {
        return oidc.Provider.ctx?.req.socket.remoteAddress ?? '';
      },
    };
    const policy = new oidc.interactionPolicy.Prompt(
      { name: 'login', requestable: true },
      new oidc.interactionPolicy.Check(
        'person_decides',
        'a person has to log in and to decide',
        (ctx) => ctx.oidc.result?.login === undefined,
      ),
    );
    const asking = new oidc.interactionPolicy.Prompt({ name: 'consent', requestable: true });
    const provider = new oidc.Provider(this.issuer, {
      ...this.configuration(),
      adapter: (kind) => new RecordsAdapter(kind, this.records, lifecycle),
      jwks: { keys: [...keys] },
      interactions: {
        policy: [policy, asking],
        url: (_ctx, interaction) => `/oauth/consent/${interaction.uid}`,
      },
      features: {
        ...this.features(),
        resourceIndicators: {
          enabled: true,
          defaultResource: (_ctx, _client, oneOf) => oneOf ?? this.defaultResource,
          useGrantedResource: () => true,
          getResourceServerInfo: (_ctx, identifier) => {
            if (resourceOf(identifier, this.issuer) === undefined)
              throw new oidc.errors.InvalidTarget();
            return {
              scope: tokenScopes.join(' '),
              audience: identifier,
              accessTokenFormat: 'jwt',
              accessTokenTTL: ACCESS_TOKEN_SECONDS,
              jwt: { sign: { alg: SIGNING_ALGORITHM } },
            };
          },
        },
      },
    });
    this.keysVersion = version;
    provider.proxy = true;
    provider.on('server_error', (_ctx, error) => {
      this.logger.error({ err: error }, 'oauth.request_failed');
    });
    return provider;
  }

  private async end(grantId: string, isRevoked: boolean): Promise<void> {
    const cause = isRevoked ? 'client' : 'reuse';
    if (!isRevoked) {
      const hint = 'a code or refresh token was used twice, so that all tokens of the client ended';
      this.logger.warn({ grant_id: grantId, hint }, 'oauth.token_reused');
    }
    try {
      await this.commands.execute(new WithdrawClientGrant(grantId, undefined, SYSTEM, cause));
    } catch (error) {
      if (!(error instanceof ClientGrantNotFound)) throw error;
    }
  }

  private configuration(): Configuration {
    return {
      routes: {
        authorization: '/authorize',
        token: '/token',
        registration: '/register',
        revocation: '/revoke',
        jwks: '/jwks',
      },
      scopes: [...tokenScopes],
      responseTypes: ['code'],
      clientAuthMethods: ['none'],
      clientDefaults: {
        application_type: 'native',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
        id_token_signed_response_alg: SIGNING_ALGORITHM,
      },
      pkce: { required: () => true },
      cookies: {
        names: { ...COOKIES, session: 'unused' },
        short: { httpOnly: true, sameSite: 'lax', signed: false },
      },
      ttl: {
        AccessToken: ACCESS_TOKEN_SECONDS,
        AuthorizationCode: 60,
        Grant: GRANT_RECORD_SECONDS,
        Interaction: INTERACTION_SECONDS,
        RefreshToken: GRANT_IDLE_DAYS * DAY_SECONDS,
        Session: INTERACTION_SECONDS,
      },
      issueRefreshToken: () => true,
      rotateRefreshToken: true,
      expiresWithSession: () => false,
      findAccount: (_ctx, account) =>
        this.tokens.byAccount(account) && {
          accountId: account,
          claims: () => ({ sub: account }),
        },
      extraTokenClaims: (_ctx, token) =>
        'grantId' in token ? { grant: token.grantId } : undefined,
      renderError: (ctx, out) => {
        ctx.body = out;
      },
      // Nothing but metadata documents is fetched, whatever a registration names.
      sectorIdentifierUriValidate: () => false,
      fetch: (address, init) =>
        this.documents.fetch(
          address instanceof Request ? address.url : address.toString(),
          init?.signal,
        ),
    };
  }

  private features(): NonNullable<Configuration['features']> {
    return {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      revocation: {
        enabled: true,
        allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId,
      },
      registration: { enabled: true, issueRegistrationAccessToken: false },
      rpMetadataChoices: { enabled: true },
      clientIdMetadataDocument: {
        enabled: this.env.MCP_AGGREGATOR_OAUTH_CLIENT_DOCUMENTS,
        ack: 'draft-02',
        allowFetch: (ctx, id) => this.documents.mayFetch(id, ctx?.req.socket.remoteAddress ?? ''),
        cacheDuration: { min: 60, max: DAY_SECONDS },
      },
    };
  }
}

interface GivenConsent {
  readonly grantId: string;
  readonly account: string;
  readonly scopes: readonly TokenScope[];
}
