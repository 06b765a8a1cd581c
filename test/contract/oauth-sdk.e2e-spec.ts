import { auth, type OAuthClientProvider } from '@modelcontextprotocol/client';
import { startApp, type TestApp } from '../support/app.js';
import { fetchFor, mcp, oauthSettings, PUBLIC_URL, TestBrowser } from '../support/oauth-clients.js';

type Saved = Parameters<NonNullable<OAuthClientProvider['saveTokens']>>[0];
type Client = Parameters<NonNullable<OAuthClientProvider['saveClientInformation']>>[0];

/** What a program gives the SDK: an address to come back to, and places to keep things. */
class MemoryProvider implements OAuthClientProvider {
  readonly redirectUrl = 'http://127.0.0.1:33333/callback';
  readonly clientMetadata = {
    client_name: 'A program with the SDK',
    redirect_uris: [this.redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  asked: URL | undefined;
  saved: Saved | undefined;
  private client: Client | undefined;
  private verifier = '';

  clientInformation() {
    return this.client;
  }
  saveClientInformation(client: Client): void {
    this.client = client;
  }
  tokens() {
    return this.saved;
  }
  saveTokens(tokens: Saved): void {
    this.saved = tokens;
  }
  redirectToAuthorization(url: URL): void {
    this.asked = url;
  }
  saveCodeVerifier(verifier: string): void {
    this.verifier = verifier;
  }
  codeVerifier(): string {
    return this.verifier;
  }
}

describe('the OAuth client of the SDK, without any settings', () => {
  let service: TestApp;

  beforeAll(async () => {
    service = await startApp(oauthSettings);
  });
  afterAll(() => service.close());

  it.each(['/mcp', '/mcp/search', '/mcp/views/default'])('connects at %s', async (endpoint) => {
    const provider = new MemoryProvider();
    const fetchFn = fetchFor(service);
    const serverUrl = `${PUBLIC_URL}${endpoint}`;
    const refused = await fetchFn(serverUrl, { method: 'POST' });
    const challenge = refused.headers.get('www-authenticate') ?? '';
    const scope = /scope="([^"]+)"/.exec(challenge)?.[1];
    const metadata = /resource_metadata="([^"]+)"/.exec(challenge)?.[1] ?? '';
    expect(metadata).toBe(`${PUBLIC_URL}/.well-known/oauth-protected-resource${endpoint}`);
    const where = { serverUrl, fetchFn, resourceMetadataUrl: new URL(metadata) };
    expect(await auth(provider, { ...where, ...(scope !== undefined && { scope }) })).toBe(
      'REDIRECT',
    );
    expect(provider.asked?.searchParams.get('resource')).toBe(serverUrl);

    const browser = new TestBrowser(service);
    await browser.open(provider.asked?.href ?? '');
    await browser.logIn(service.tokens.call);
    const back = new URL((await browser.allow()) ?? '');
    const { searchParams: answer } = back;
    const iss = answer.get('iss') ?? '';
    const authorizationCode = answer.get('code') ?? '';
    expect(await auth(provider, { ...where, authorizationCode, iss })).toBe('AUTHORIZED');
    expect((await mcp(service, endpoint, provider.saved?.access_token ?? '')).status).toBe(200);

    const before = provider.saved?.refresh_token;
    expect(await auth(provider, where)).toBe('AUTHORIZED');
    expect(provider.saved?.refresh_token).not.toBe(before);
    expect((await mcp(service, endpoint, provider.saved?.access_token ?? '')).status).toBe(200);
  });
});
