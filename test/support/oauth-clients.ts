import { createHash, randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:https';
import type { TestApp } from './app.js';
import { type Answer, send } from './http.js';
import { TEST_CERTIFICATE, TEST_KEY } from './tls.js';

/** The address of the service under test, for clients; its requests go to the port that it listens on. */
export const PUBLIC_URL = 'https://mcp.example.com';

/** Settings of a service that clients reach at that address, as behind a proxy that ends TLS. */
export const oauthSettings = {
  MCP_AGGREGATOR_OAUTH: 'on',
  MCP_AGGREGATOR_PUBLIC_URL: PUBLIC_URL,
  MCP_AGGREGATOR_ALLOWED_HOSTS: 'mcp.example.com',
};

const host = new URL(PUBLIC_URL).host;

export function at(
  { url }: Pick<TestApp, 'url'>,
  path: string,
  { headers, ...sending }: Parameters<typeof send>[2] = {},
): Promise<Answer> {
  return send(url, path, { ...sending, headers: { host, ...headers } });
}

/** A form as a client or a browser sends it. */
export function form(
  service: Pick<TestApp, 'url'>,
  path: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const body = new URLSearchParams(fields).toString();
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  return at(service, path, { method: 'POST', body, headers: { ...type, ...headers } });
}

/** `fetch` for an OAuth client that is given the public address. */
export function fetchFor(service: Pick<TestApp, 'url'>) {
  return async (address: string | URL, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(address);
    if (url.host !== host) return new Response(null, { status: 502 });
    const headers = Object.fromEntries(new Headers(init.headers));
    const { body: given } = init;
    const body =
      typeof given === 'string' || given instanceof URLSearchParams ? given.toString() : undefined;
    const type =
      given instanceof URLSearchParams
        ? { 'content-type': 'application/x-www-form-urlencoded' }
        : {};
    const answer = await at(service, `${url.pathname}${url.search}`, {
      method: init.method ?? 'GET',
      headers: { ...type, ...headers },
      ...(body !== undefined && { body }),
    });
    const answered = Object.entries(answer.headers).flatMap(([name, value]): [string, string][] =>
      value === undefined || name === 'transfer-encoding' ? [] : [[name, value]],
    );
    const hasBody = answer.status !== 204 && answer.status !== 304;
    return new Response(hasBody ? answer.text : null, { status: answer.status, headers: answered });
  };
}

/** A browser of a person: cookies, redirects within the service, and pages that lead on by themselves. */
export class TestBrowser {
  private readonly cookies = new Map<string, string>();
  private path = '';
  page = '';
  /** Addresses within the service. */
  readonly opened: string[] = [];
  /** Pages that lead on by themselves stay open. */
  staysOnPages = false;

  constructor(private readonly service: Pick<TestApp, 'url'>) {}

  /** Opens an address as a link of another site; returns where the browser is sent outside of the service, if it is. */
  async open(address: string): Promise<string | undefined> {
    return this.go(pathIn(address), 'cross-site');
  }

  /** Opens an address as a link of a page of the service. */
  async visit(address: string): Promise<string | undefined> {
    return this.go(pathIn(address), 'same-origin');
  }

  logIn(credential: string): Promise<string | undefined> {
    return this.submit('login', { credential });
  }

  allow(): Promise<string | undefined> {
    return this.submit('decide', { decision: 'allow', shown: this.shown });
  }

  deny(): Promise<string | undefined> {
    return this.submit('decide', { decision: 'deny' });
  }

  /** As a page of the service asks for it. */
  read(path: string, { headers, ...sending }: Parameters<typeof at>[2] = {}): Promise<Answer> {
    const own = { 'sec-fetch-site': 'same-origin', cookie: this.cookieHeader(true) };
    return at(this.service, path, { ...sending, headers: { ...own, ...headers } });
  }

  takeCookiesOf(other: TestBrowser): void {
    for (const [name, value] of other.cookies) this.cookies.set(name, value);
  }

  /** Values of cookies that would let another browser act as this one. */
  get secrets(): readonly string[] {
    // The id of a request is part of its address too, and proves nothing by itself.
    const own = [...this.cookies].filter(([name]) => !name.startsWith('switchboard_oauth'));
    return own.map(([, value]) => value).filter((value) => value !== '');
  }

  /** What the page says that it shows. */
  get shown(): string {
    return /name="shown" value="(\w+)"/.exec(this.page)?.[1] ?? '';
  }

  async submit(
    action: string,
    fields: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {
      origin: PUBLIC_URL,
      'sec-fetch-site': 'same-origin',
    },
  ): Promise<string | undefined> {
    const path = `${this.path.replace(/\/(ask|login|decide)$/, '')}/${action}`;
    const answer = await form(this.service, path, fields, {
      cookie: this.cookieHeader(true),
      ...headers,
    });
    return this.take(answer, path);
  }

  private async go(path: string, site: string): Promise<string | undefined> {
    const cookie = this.cookieHeader(site === 'same-origin');
    const headers = { 'sec-fetch-site': site, ...(cookie !== '' && { cookie }) };
    return this.take(await at(this.service, path, { headers }), path, site);
  }

  private async take(
    { status, headers, text }: Answer,
    path: string,
    site = 'same-origin',
  ): Promise<string | undefined> {
    // Values of this header have no comma outside of dates, which these have none of.
    for (const set of (headers['set-cookie'] ?? '').split(/,(?=\s*[\w-]+=)/)) {
      const [, name, value] = /^\s*([\w-]+)=([^;]*)/.exec(set) ?? [];
      if (name !== undefined && value !== undefined) this.cookies.set(name, value);
    }
    this.path = path;
    this.page = text;
    this.opened.push(path);
    if (status === 303 || status === 302) {
      const to = new URL(headers['location'] ?? '', `${PUBLIC_URL}${path}`);
      return to.origin === PUBLIC_URL ? this.go(`${to.pathname}${to.search}`, site) : to.href;
    }
    const refresh = /http-equiv="refresh" content="0;url=([^"]+)"/.exec(text)?.[1];
    return refresh === undefined || this.staysOnPages
      ? undefined
      : this.go(pathIn(refresh.replaceAll('&amp;', '&')), 'same-origin');
  }

  /** Browsers do not send the cookie of a login with a navigation from another site. */
  private cookieHeader(isSameSite: boolean): string {
    return [...this.cookies]
      .filter(([name, value]) => value !== '' && (isSameSite || !name.includes('session')))
      .map(([name, value]) => `${name}=${value}`)
      .join('; ');
  }
}

function pathIn(address: string): string {
  const url = new URL(address, PUBLIC_URL);
  return `${url.pathname}${url.search}`;
}

/** A host with the metadata documents of clients. */
export class ClientHost {
  readonly documents = new Map<string, object | string>();
  asked = 0;
  contentType = 'application/json';
  private readonly server = createServer(
    { cert: TEST_CERTIFICATE, key: TEST_KEY },
    (request, response) => {
      this.asked += 1;
      const document = this.documents.get(request.url ?? '');
      response.statusCode = document === undefined ? 404 : 200;
      response.setHeader('content-type', this.contentType);
      response.end(typeof document === 'string' ? document : JSON.stringify(document ?? {}));
    },
  );

  static async start(): Promise<ClientHost> {
    const one = new ClientHost();
    await new Promise<void>((resolve) => one.server.listen(0, '127.0.0.1', resolve));
    return one;
  }

  /** Publishes a document under its own address, which is the client id. */
  publish(path: string, document: object): string {
    const { port } = this.server.address() as AddressInfo;
    const id = `https://localhost:${port}${path}`;
    this.documents.set(path, { client_id: id, ...document });
    return id;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
  readonly scope: string;
}

export interface ClientShape {
  readonly clientId: string;
  readonly redirectUri: string;
  /** Undefined for a client that sends none. */
  readonly resource?: string | undefined;
  readonly scope?: string | undefined;
}

/** What an OAuth client does by itself. */
export class TestClient {
  readonly state = randomBytes(8).toString('base64url');

  constructor(
    private readonly service: Pick<TestApp, 'url'>,
    readonly shape: ClientShape,
    private readonly verifier = randomBytes(32).toString('base64url'),
  ) {}

  /** The same client, when another process answers at the address. */
  towards(service: Pick<TestApp, 'url'>): TestClient {
    return new TestClient(service, this.shape, this.verifier);
  }

  authorizeUrl(more: Readonly<Record<string, string>> = {}): string {
    const { clientId, redirectUri, resource, scope } = this.shape;
    const challenge = createHash('sha256').update(this.verifier).digest('base64url');
    return `${PUBLIC_URL}/authorize?${new URLSearchParams({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      state: this.state,
      code_challenge: challenge,
      code_challenge_method: 'S256',
      ...(resource !== undefined && { resource }),
      ...(scope !== undefined && { scope }),
      ...more,
    }).toString()}`;
  }

  redeem(back: string, more: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const { clientId, redirectUri, resource } = this.shape;
    return form(this.service, '/token', {
      grant_type: 'authorization_code',
      code: new URL(back).searchParams.get('code') ?? '',
      client_id: clientId,
      redirect_uri: redirectUri,
      code_verifier: this.verifier,
      ...(resource !== undefined && { resource }),
      ...more,
    });
  }

  refresh(refreshToken: string, more: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return form(this.service, '/token', {
      grant_type: 'refresh_token',
      refresh_token: refreshToken,
      client_id: this.shape.clientId,
      ...more,
    });
  }
}

/** A request of a stateless MCP client. */
export function mcp(
  service: Pick<TestApp, 'url'>,
  endpoint: string,
  token: string,
  method: 'tools/list' | 'tools/call' = 'tools/list',
): Promise<Answer> {
  const name = 'query';
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const params =
    method === 'tools/call' ? { name, arguments: { question: 'x' }, _meta } : { _meta };
  return at(service, endpoint, {
    method: 'POST',
    token,
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(method === 'tools/call' && { 'mcp-name': name }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
}
