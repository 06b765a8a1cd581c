import { isDocsRoute } from './authenticator.js';
import { baseUrl, metadataUrl } from './oauth-metadata.js';

const to = (url: string) => ({ protocol: 'https' as const, host: 'mcp.example.com:444', url });
const metadata = 'https://mcp.example.com:444/.well-known/oauth-protected-resource';

describe(metadataUrl, () => {
  it.each([
    ['/mcp', '/mcp'],
    ['/mcp/', '/mcp/'],
    ['/mcp/servers/a?x=1', '/mcp/servers/a'],
    ['/mcpx', ''],
    ['/api/mcp', ''],
    ['/', ''],
  ])('of %s ends with %j', (url, resource) => {
    expect(metadataUrl(to(url))).toBe(metadata + resource);
    expect(baseUrl(to(url))).toBe('https://mcp.example.com:444');
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
