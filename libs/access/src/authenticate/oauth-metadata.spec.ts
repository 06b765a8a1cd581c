import { isDocsRoute } from './authenticator.js';
import { baseUrl, metadataUrl, reaches, reachOf, resourceOf } from './oauth-metadata.js';

const to = (url: string) => ({ protocol: 'https' as const, host: 'mcp.example.com:444', url });
const metadata = 'https://mcp.example.com:444/.well-known/oauth-protected-resource';

describe(metadataUrl, () => {
  it.each([
    ['/mcp', '/mcp'],
    ['/mcp/servers/a?x=1', '/mcp/servers/a'],
    ['/mcp/views/a/search', '/mcp/views/a/search'],
    ['/mcp/', ''],
    ['/mcp/servers/a/b', ''],
    ['/mcpx', ''],
    ['/api/mcp', ''],
    ['/', ''],
  ])('of %s ends with %j', (url, resource) => {
    expect(metadataUrl(to(url), undefined)).toBe(metadata + resource);
    expect(baseUrl(to(url))).toBe('https://mcp.example.com:444');
  });

  it('begins with the public address if there is one', () => {
    expect(metadataUrl(to('/mcp'), 'https://public.example.com/tools')).toBe(
      'https://public.example.com/tools/.well-known/oauth-protected-resource/mcp',
    );
  });
});

describe(resourceOf, () => {
  it.each([
    ['https://a.example.com', ''],
    ['https://a.example.com/', ''],
    ['https://A.example.com:443/mcp', '/mcp'],
    ['https://a.example.com/mcp/search', '/mcp/search'],
    ['https://a.example.com/mcp/servers/github', '/mcp/servers/github'],
    ['https://a.example.com/mcp/views/support', '/mcp/views/support'],
    ['https://a.example.com/mcp/views/support/search', '/mcp/views/support/search'],
  ])('takes %s for %j', (identifier, path) =>
    expect(resourceOf(identifier, 'https://a.example.com')).toBe(path),
  );

  it.each([
    'https://a.example.com/mcp/',
    'https://a.example.com/mcp?x=1',
    'https://a.example.com/mcp#x',
    'https://u:p@a.example.com/mcp',
    'https://a.example.com/other',
    'https://a.example.com.evil.example/mcp',
    'https://b.example.com/mcp',
    'http://a.example.com/mcp',
    'https://a.example.com:8443/mcp',
    'switchboard',
    '',
  ])('finds nothing of this service in %j', (identifier) =>
    expect(resourceOf(identifier, 'https://a.example.com')).toBeUndefined(),
  );

  it('counts from the path of the public address', () => {
    const base = 'https://a.example.com/tools';
    expect(resourceOf(base, base)).toBe('');
    expect(resourceOf(`${base}/`, base)).toBe('');
    expect(resourceOf(`${base}/mcp`, base)).toBe('/mcp');
    for (const other of ['https://a.example.com', 'https://a.example.com/mcp', `${base}x/mcp`]) {
      expect(resourceOf(other, base)).toBeUndefined();
    }
  });
});

describe(reachOf, () => {
  const own = { name: 'switchboard', publicUrl: 'https://a.example.com' };

  it.each([
    'switchboard',
    ['other', 'switchboard'],
    'https://a.example.com/',
    'https://a.example.com',
  ])('is everywhere for the audience %j', (audience) => {
    const reach = reachOf(audience, own);
    expect(reach && reaches(reach, '/api/v1/aggregator/tools')).toBe(true);
  });

  it('is an endpoint for its address, and nothing else', () => {
    const reach = reachOf(['https://a.example.com/mcp', 'https://b.example.com/mcp'], own);
    const at = (url: string): boolean => reach !== undefined && reaches(reach, url);
    expect(['/mcp', '/mcp?x=1'].map(at)).toEqual([true, true]);
    expect(['/mcp/search', '/mcp/', '/', '/api/v1/tools/call'].map(at)).toEqual(
      Array(4).fill(false),
    );
  });

  it.each([undefined, 7, '', [], 'https://b.example.com/mcp', [{}]])(
    'is nowhere for the audience %j',
    (audience) => expect(reachOf(audience, own)).toBeUndefined(),
  );

  it('takes no address without a configured one', () => {
    expect(
      reachOf('https://a.example.com/mcp', { name: 'switchboard', publicUrl: undefined }),
    ).toBeUndefined();
  });
});

describe(isDocsRoute, () => {
  it.each(['/docs', '/docs/', '/docs/page', '/docs-json'])('is %s', (route) =>
    expect(isDocsRoute(route)).toBe(true),
  );

  it.each([undefined, '', '/', '/docsother', '/api/docs', '/api/docs/x'])('is not %s', (route) =>
    expect(isDocsRoute(route)).toBe(false),
  );
});
