import { isFromOwnPage } from './own-page.js';

const host = 'localhost:8081';
const marked = { 'x-requested-with': 'switchboard-console' };
const from = (method: string, headers: Record<string, string>): boolean =>
  isFromOwnPage({ method, host, headers });

describe(isFromOwnPage.name, () => {
  it('takes a page of this origin, with its mark where something may change', () => {
    const own = { 'sec-fetch-site': 'same-origin' };
    expect(from('GET', own)).toBe(true);
    expect(from('HEAD', own)).toBe(true);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      expect(from(method, own)).toBe(false);
      expect(from(method, { ...own, 'x-requested-with': 'XMLHttpRequest' })).toBe(false);
      expect(from(method, { ...own, ...marked })).toBe(true);
      expect(from(method, { ...own, ...marked, origin: 'http://LOCALHOST:8081' })).toBe(true);
    }
  });

  it('takes an address that a person typed, which changes nothing', () => {
    expect(from('GET', { 'sec-fetch-site': 'none' })).toBe(true);
    expect(from('POST', { 'sec-fetch-site': 'none', ...marked })).toBe(false);
  });

  it.each(['same-site', 'cross-site', 'SAME-ORIGIN', '', 'same-origin, none'])(
    'refuses Sec-Fetch-Site: %j',
    (site) => {
      expect(from('GET', { 'sec-fetch-site': site, ...marked })).toBe(false);
      expect(from('POST', { 'sec-fetch-site': site, ...marked })).toBe(false);
    },
  );

  it.each(['http://localhost:8082', 'http://localhost', 'http://example.com:8081', 'null', ''])(
    'refuses the Origin %j, whatever else is sent',
    (origin) => {
      const headers = { origin, ...marked, 'sec-fetch-site': 'same-origin' };
      expect(from('GET', headers)).toBe(false);
      expect(from('POST', headers)).toBe(false);
    },
  );

  it('relies on the mark and the Origin where browsers send no Sec-Fetch-Site', () => {
    expect(from('GET', {})).toBe(true);
    expect(from('POST', {})).toBe(false);
    expect(from('POST', { ...marked, origin: 'http://localhost:8081' })).toBe(true);
  });
});
