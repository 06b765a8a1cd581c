import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const LOGIN_CLIENT = { id: 'switchboard', secret: 'a secret: with/ reserved+ characters' };

type Key = Parameters<SignJWT['sign']>[0];

/** An identity provider that logs everyone in who is asked for, and can be made to answer wrongly. */
export class TestIdentityProvider {
  /** Beside those of every ID token, or in their place; undefined leaves one out. */
  claims: Record<string, unknown> = {};
  header: { alg: string; kid?: string } = { alg: 'ES256', kid: 'first' };
  /** Over what the metadata say otherwise. */
  metadata: object = {};
  /** In the place of the answer of the token endpoint. */
  answerTokens: ((response: ServerResponse) => void) | undefined;
  /** Of the last request for a token. */
  authorization: string | undefined;
  tokenRequests = 0;
  isDown = false;
  /** Paths of all requests. */
  readonly asked: string[] = [];
  private readonly codes = new Map<string, URLSearchParams>();
  private readonly keys = new Map<string, { sign: Key; jwk: object }>();
  private readonly server: Server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', this.issuer);
    this.asked.push(pathname);
    if (this.isDown) response.writeHead(503).end();
    else if (pathname === '/.well-known/openid-configuration')
      this.answer(response, this.document());
    else if (pathname === '/keys') this.answer(response, { keys: this.published() });
    else if (pathname === '/token') {
      this.tokenRequests += 1;
      this.authorization = request.headers.authorization;
      let body = '';
      request.on('data', (part: Buffer) => (body += part.toString()));
      request.on('end', () => {
        void this.giveTokens(new URLSearchParams(body), response);
      });
    } else response.writeHead(404).end();
  });

  static async start(): Promise<TestIdentityProvider> {
    const provider = new TestIdentityProvider();
    await provider.addKey('first');
    await new Promise<void>((resolve) => provider.server.listen(0, '127.0.0.1', resolve));
    return provider;
  }

  get issuer(): string {
    const { port } = this.server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  get settings(): Record<string, string> {
    return {
      MCP_AGGREGATOR_LOGIN_ISSUER: this.issuer,
      MCP_AGGREGATOR_LOGIN_CLIENT_ID: LOGIN_CLIENT.id,
      MCP_AGGREGATOR_LOGIN_CLIENT_SECRET: LOGIN_CLIENT.secret,
    };
  }

  reset(): void {
    this.claims = {};
    this.header = { alg: 'ES256', kid: 'first' };
    this.metadata = {};
    this.isDown = false;
    this.answerTokens = undefined;
  }

  async addKey(kid: string): Promise<void> {
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    this.keys.set(kid, { sign: privateKey, jwk: { ...(await exportJWK(publicKey)), kid } });
  }

  removeKey(kid: string): void {
    this.keys.delete(kid);
  }

  /** Where the browser is sent that came with this request, when its person has logged in. */
  answerTo(address: string, more: Record<string, string> = {}): string {
    const asked = new URL(address).searchParams;
    const code = `code-${this.codes.size}`;
    this.codes.set(code, asked);
    const back = new URL(asked.get('redirect_uri') ?? '');
    for (const [name, value] of Object.entries({ code, state: asked.get('state') ?? '', ...more }))
      back.searchParams.set(name, value);
    return back.href;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private document(): object {
    return {
      issuer: this.issuer,
      authorization_endpoint: `${this.issuer}/authorize`,
      token_endpoint: `${this.issuer}/token`,
      jwks_uri: `${this.issuer}/keys`,
      ...this.metadata,
    };
  }

  private published(): object[] {
    return [...this.keys.values()].map(({ jwk }) => jwk);
  }

  private async giveTokens(form: URLSearchParams, response: ServerResponse): Promise<void> {
    if (this.answerTokens) return this.answerTokens(response);
    const code = form.get('code') ?? '';
    const asked = this.codes.get(code);
    this.codes.delete(code);
    if (!asked || form.get('redirect_uri') !== asked.get('redirect_uri')) {
      response.statusCode = 400;
      return this.answer(response, { error: 'invalid_grant' });
    }
    const claims = {
      iss: this.issuer,
      sub: 'ada',
      aud: LOGIN_CLIENT.id,
      nonce: asked.get('nonce'),
      exp: Math.floor(Date.now() / 1_000) + 300,
      groups: ['callers'],
      ...this.claims,
    };
    this.answer(response, { id_token: await this.sign(claims), token_type: 'Bearer' });
  }

  private async sign(claims: object): Promise<string> {
    const { alg, kid } = this.header;
    const part = (value: object): string =>
      Buffer.from(JSON.stringify(value)).toString('base64url');
    if (alg === 'none') return `${part({ alg })}.${part(claims)}.`;
    const key =
      alg === 'HS256'
        ? Buffer.from(JSON.stringify(this.keys.get('first')?.jwk))
        : (this.keys.get(kid ?? '')?.sign ?? (await generateKeyPair('ES256')).privateKey);
    return new SignJWT({ ...claims }).setProtectedHeader(this.header).sign(key);
  }

  private answer(response: ServerResponse, json: object): void {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(json));
  }
}

/** Opens an address of an identity provider as a browser, until it leads elsewhere. */
export async function followWithin(issuer: string, address: string): Promise<string> {
  const { origin } = new URL(issuer);
  const cookies = new Map<string, string>();
  let url = address;
  for (let hop = 0; hop < 10 && new URL(url).origin === origin; hop++) {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
    const answer = await fetch(url, { redirect: 'manual', headers: { cookie } });
    for (const set of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (name !== undefined && value !== undefined) cookies.set(name, value);
    }
    const to = answer.headers.get('location');
    if (to === null) throw new Error(`${url} answers ${answer.status}: ${await answer.text()}`);
    url = new URL(to, url).href;
  }
  return url;
}
