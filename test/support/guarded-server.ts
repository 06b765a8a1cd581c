import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  request as httpRequest,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

interface Grant {
  readonly scope: string;
  readonly challenge: string;
  readonly redirectUri: string;
  readonly clientId: string;
}

const AS_METADATA_PATH = '/.well-known/oauth-authorization-server';

/**
 * An MCP server that requires OAuth, with its authorization server: a proxy that admits only requests with a token. The
 * tool `grow` needs the scope `write`, everything else `use`.
 */
export class GuardedServer {
  /** Received requests as `METHOD /path`; for the token endpoint with the grant. */
  readonly seen: string[] = [];
  /** Every secret it has issued. */
  readonly secrets: string[] = [];
  /** Lifetime in seconds; an expired token is refused. */
  lifetime = 3_600;
  givesRefreshTokens = true;
  /** The location of the authorization server in its metadata. */
  issuerAddress: string | undefined;
  /** Turned into the response of the authorization server to a browser. */
  answerIssuer: string | undefined;
  isDown = false;
  /** PKCE methods in its metadata; undefined omits the member. */
  challengeMethods: readonly string[] | undefined = ['S256'];
  /** Members of its metadata as JSON, before all others. */
  moreMetadata = '';
  private readonly grants = new Map<string, Grant>();
  private readonly tokens = new Map<string, { scope: string; until: number }>();
  private readonly refreshTokens = new Map<string, { scope: string; clientId: string }>();
  private readonly server: Server = createServer((request, response) => {
    this.serve(request, response).catch(() => response.destroy());
  });

  private constructor(private readonly behind: string) {}

  static async before(server: { readonly url: string }): Promise<GuardedServer> {
    const guarded = new GuardedServer(server.url);
    guarded.server.listen(0, '127.0.0.1');
    await once(guarded.server, 'listening');
    return guarded;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `${this.origin}/mcp`;
  }

  /** Revokes all issued tokens. */
  revokeAll(): void {
    this.tokens.clear();
    this.refreshTokens.clear();
  }

  /** Expires the tokens; they can be refreshed. */
  expireAll(): void {
    this.tokens.clear();
  }

  countOf(what: string): number {
    return this.seen.filter((one) => one === what).length;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.origin);
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts).toString('utf8');
    const form = new URLSearchParams(body);
    const grant = form.get('grant_type');
    const isToken = url.pathname === '/token';
    this.seen.push(`${request.method} ${url.pathname}${isToken ? ` ${grant}` : ''}`);
    const json = (status: number, answer: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      const more = url.pathname === AS_METADATA_PATH ? this.moreMetadata : '';
      response.end(`{${more}${JSON.stringify(answer).slice(1)}`);
    };
    if (this.isDown && isToken) return void response.destroy();
    switch (url.pathname) {
      case '/.well-known/oauth-protected-resource/mcp':
        return json(200, {
          resource: this.url,
          authorization_servers: [this.issuerAddress ?? this.origin],
          scopes_supported: ['use'],
        });
      case AS_METADATA_PATH:
        return json(200, {
          issuer: this.origin,
          authorization_endpoint: `${this.origin}/authorize`,
          token_endpoint: `${this.origin}/token`,
          registration_endpoint: `${this.origin}/register`,
          response_types_supported: ['code'],
          code_challenge_methods_supported: this.challengeMethods,
          authorization_response_iss_parameter_supported: true,
          token_endpoint_auth_methods_supported: ['client_secret_basic'],
        });
      case '/register':
        return json(201, {
          ...(JSON.parse(body) as object),
          client_id: `client-${this.countOf('POST /register')}`,
          client_secret: this.secret(),
        });
      case '/authorize':
        return this.consent(url.searchParams, response);
      case '/token': {
        const basic = request.headers.authorization?.replace(/^Basic /, '') ?? '';
        const [clientId = ''] = Buffer.from(basic, 'base64').toString('utf8').split(':');
        const answer = this.answerToken(grant, form, clientId);
        return json('error' in answer ? 400 : 200, answer);
      }
      default:
        return this.guard(request, body, response);
    }
  }

  private consent(asked: URLSearchParams, response: ServerResponse): void {
    const code = this.secret();
    const text = (name: string): string => asked.get(name) ?? '';
    this.grants.set(code, {
      scope: text('scope'),
      challenge: text('code_challenge'),
      redirectUri: text('redirect_uri'),
      clientId: text('client_id'),
    });
    const back = new URL(text('redirect_uri'));
    back.searchParams.set('code', code);
    back.searchParams.set('state', text('state'));
    back.searchParams.set('iss', this.answerIssuer ?? this.origin);
    response.writeHead(302, { location: back.href }).end();
  }

  private answerToken(grant: string | null, form: URLSearchParams, clientId: string): object {
    if (grant === 'client_credentials') return this.give(form.get('scope') ?? '', clientId, false);
    if (grant === 'refresh_token') {
      const used = form.get('refresh_token') ?? '';
      const given = this.refreshTokens.get(used);
      // Single use: a second use means that it was stolen.
      this.refreshTokens.delete(used);
      return given?.clientId === clientId
        ? this.give(given.scope, clientId, this.givesRefreshTokens)
        : { error: 'invalid_grant', error_description: `no longer good: ${used}` };
    }
    const code = form.get('code') ?? '';
    const given = this.grants.get(code);
    this.grants.delete(code);
    const verified = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isRight =
      given?.challenge === verified &&
      given.redirectUri === form.get('redirect_uri') &&
      given.clientId === clientId;
    return given && isRight
      ? this.give(given.scope, clientId, this.givesRefreshTokens)
      : { error: 'invalid_grant' };
  }

  private give(scope: string, clientId: string, refreshable: boolean): object {
    const token = this.secret();
    this.tokens.set(token, { scope, until: Date.now() + this.lifetime * 1_000 });
    const refresh = refreshable ? this.secret() : undefined;
    if (refresh) this.refreshTokens.set(refresh, { scope, clientId });
    return {
      access_token: token,
      token_type: 'Bearer',
      expires_in: this.lifetime,
      scope,
      ...(refresh && { refresh_token: refresh }),
    };
  }

  private guard(request: IncomingMessage, body: string, response: ServerResponse): void {
    const sent = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
    const token = this.tokens.get(sent);
    const metadata = `resource_metadata="${this.origin}/.well-known/oauth-protected-resource/mcp"`;
    const refuse = (status: number, why: string): void => {
      response.writeHead(status, { 'www-authenticate': `Bearer ${why}, ${metadata}` }).end();
    };
    if (!token || token.until < Date.now()) return refuse(401, 'error="invalid_token"');
    if (body.includes('"name":"grow"') && !token.scope.split(' ').includes('write')) {
      return refuse(403, 'error="insufficient_scope", scope="write"');
    }
    const { hostname, port } = new URL(this.behind);
    const { authorization: _token, host: _host, ...headers } = request.headers;
    const { method, url: path } = request;
    const forwarded = httpRequest({ hostname, port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
    });
    response.on('close', () => forwarded.destroy());
    forwarded.on('error', () => response.destroy());
    forwarded.end(body);
  }

  private secret(): string {
    const secret = `given-${randomBytes(16).toString('hex')}`;
    this.secrets.push(secret);
    return secret;
  }
}
