import { clientText } from '../consent/client-text.js';
import { redirectTarget } from '../consent/redirect-target.js';
import { redirectProblem } from './redirect-addresses.js';
import { cleanParameters, cleanRegistration } from './client-requests.js';

const issuer = 'https://mcp.example.com';

describe(cleanParameters, () => {
  const clean = (text: string, endpoint: 'authorize' | 'token' | 'revoke' = 'authorize'): string =>
    decodeURIComponent(cleanParameters(endpoint, new URLSearchParams(text), issuer).toString());

  it('drops parameters of extensions, and scopes that are not of this service', () => {
    expect(clean('nonce=1&claims={}&request=x&scope=openid%20call%20read&state=s')).toBe(
      'scope=read+call&state=s',
    );
  });

  it('asks for reading and calling when a client names no known scope', () => {
    expect(clean('state=s')).toBe('state=s&scope=read+call');
    expect(clean('scope=openid')).toBe('scope=read+call');
    expect(clean('scope=openid', 'token')).toBe('');
  });

  it('spells the root of the service in one way, and keeps other resources', () => {
    for (const root of [issuer, `${issuer}/`, 'HTTPS://MCP.example.com:443/']) {
      expect(clean(`resource=${root}`, 'token')).toBe(`resource=${issuer}`);
    }
    expect(clean(`resource=${issuer}/mcp`, 'token')).toBe(`resource=${issuer}/mcp`);
    expect(clean(`resource=${issuer}/mcp/`, 'token')).toBe(`resource=${issuer}/mcp`);
    expect(clean('resource=urn:x', 'token')).toBe('resource=urn:x');
  });

  it('makes one resource of several, which is none of this service', () => {
    const two = `resource=${issuer}/mcp&resource=${issuer}/mcp/&resource=urn:x`;
    expect(clean(two, 'token')).toBe(`resource=${issuer}/mcp+urn:x`);
  });

  it('keeps a parameter that is sent twice, so that it is refused', () => {
    expect(clean('client_id=a&client_id=b', 'revoke')).toBe('client_id=a&client_id=b');
  });

  it('drops a client id that no row could hold', () => {
    expect(clean(`client_id=${'x'.repeat(2_001)}`, 'revoke')).toBe('');
  });
});

describe(cleanRegistration, () => {
  it('makes a public client with codes and refresh tokens of whatever is asked for', () => {
    expect(
      cleanRegistration({
        redirect_uris: ['https://a.example.com/cb', 'https://a.example.com/cb'],
        client_name: 'A',
        grant_types: ['client_credentials'],
        token_endpoint_auth_method: 'client_secret_post',
        scope: 'everything',
        jwks: {},
      }),
    ).toEqual({
      client: {
        redirect_uris: ['https://a.example.com/cb'],
        client_name: 'A',
        application_type: 'native',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      },
    });
  });

  it.each([
    [null],
    [[]],
    ['x'],
    [{}],
    [{ redirect_uris: 'https://a.example.com' }],
    [{ redirect_uris: [7] }],
    [{ redirect_uris: Array(21).fill('https://a.example.com') }],
    [{ redirect_uris: ['x'.repeat(2_001)] }],
  ])('refuses %j', (body) =>
    expect(cleanRegistration(body)).toMatchObject({ error: 'invalid_client_metadata' }),
  );
});

describe(redirectProblem, () => {
  it.each([
    'https://claude.ai/cb',
    'http://127.0.0.1:5123/cb',
    'http://localhost/cb',
    'http://[::1]:1/cb',
    'com.example.app:/cb',
    'cursor://anysphere.cursor-mcp/cb',
    'vscode-insiders://x/cb',
  ])('finds none with %s', (uri) => expect(redirectProblem(uri)).toBeUndefined());

  it.each([
    ['http://claude.ai/cb', 'of this machine'],
    ['http://localhost.evil.example.com/cb', 'of this machine'],
    ['https://claude.ai@evil.example.com/cb', 'a user'],
    ['javascript:alert(1)', '"javascript:"'],
    ['data:text/html,x', '"data:"'],
    ['search-ms:x', '"search-ms:"'],
    ['file:///etc/passwd', '"file:"'],
    ['/cb', 'no absolute'],
  ])('names what is wrong with %s', (uri, text) => expect(redirectProblem(uri)).toContain(text));
});

describe(redirectTarget, () => {
  it.each([
    ['https://claude.ai/cb', 'claude.ai', true],
    ['https://a.example.com:8443/cb', 'a.example.com:8443', true],
    ['http://127.0.0.1:5123/cb', '127.0.0.1', false],
    ['http://localhost:5123/cb', 'localhost', false],
    ['https://localhost:5123/cb', 'localhost', false],
    ['cursor://anysphere.cursor-mcp/cb', 'cursor:', false],
  ])('of %s is %s, whose owner alone gets it: %s', (uri, name, isProof) => {
    expect(redirectTarget(uri)).toMatchObject({ name, isProof });
  });
});

describe(clientText, () => {
  it('has no character that disguises it, and an end', () => {
    expect(clientText('a\u0000b\u202Ec\n', 10)).toBe('a b c');
    expect(clientText('x'.repeat(300), 200)).toHaveLength(200);
    expect(clientText('\ud800', 10)).toBe('\ufffd');
  });
});
