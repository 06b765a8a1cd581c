import { ownPage } from './login-attempt.js';

describe(ownPage.name, () => {
  it.each(['/console/servers/github?tab=logs', '/connect/abc', '/oauth/consent/x/ask'])(
    'takes %s, a page of this service',
    (page) => {
      expect(ownPage(page)).toBe(page);
    },
  );

  it.each([
    '/console/../api/v1/aggregator/servers',
    '/console/%2e%2e/api/v1/aggregator/servers',
    '/console/.%2E/login/callback',
    '/connect/x/../../oauth/anything',
    '//evil.example.com/',
    '/console/\\evil.example.com',
    'https://evil.example.com/console/',
    '/api/v1/aggregator/servers',
    7,
    undefined,
  ])('takes the console in the place of %s', (page) => {
    expect(ownPage(page)).toBe('/console/');
  });

  it('takes a page by the path that the browser will open', () => {
    expect(ownPage('/console/a/../b?x=../y')).toBe('/console/b?x=../y');
    expect(ownPage('/console/../connect/abc')).toBe('/connect/abc');
  });
});
