import { maskUrl } from './mask-config.js';
import { longestFirst, redact } from './redact.js';

describe(redact, () => {
  it('leaves nothing of a secret that contains another one', () => {
    const secrets = longestFirst(['secret', 'secret-of-a-server', 'secret']);
    expect(secrets).toEqual(['secret-of-a-server', 'secret']);
    expect(redact('it said secret-of-a-server and secret', secrets)).toBe(
      'it said ******** and ********',
    );
  });

  it('does not take short values for secrets', () => {
    expect(longestFirst(['', 'short', 'longer'])).toEqual(['longer']);
  });

  it('cuts a long message after the secrets are out', () => {
    const message = `${'x'.repeat(1_995)}a-secret-value`;
    const told = redact(message, ['a-secret-value']);
    expect(told.length).toBeLessThanOrEqual(2_000);
    expect(told).not.toContain('a-sec');
  });
});

describe(maskUrl, () => {
  it.each([
    ['https://user:pass@a.example/x', 'https://********:********@a.example/x'],
    ['https://a.example/?key=value&flag#part', 'https://a.example/?key=********&********'],
    ['https://a.example/x', 'https://a.example/x'],
    ['see https://user:pass@a.example', 'see https://user:pass@a.example'],
    ['see https://a.example/?key=value', 'see https://a.example/?key=value'],
    ['/a/b?c=d', '/a/b?c=d'],
  ])('shows %s as %s', (url, shown) => {
    expect(maskUrl(url)).toBe(shown);
  });
});
