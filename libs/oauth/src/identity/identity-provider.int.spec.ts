import { Logger } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { type Clock, Egress, parseEnv } from '@app/platform';
import { eventually } from '../../../../test/support/eventually.js';
import { PUBLIC_URL } from '../../../../test/support/oauth-clients.js';
import { TestIdentityProvider } from '../../../../test/support/identity-provider.js';
import { IdentityProvider } from './identity-provider.js';
import type { LoginAttempt } from './login-attempt.js';

const METADATA = '/.well-known/openid-configuration';
const HOUR = 3_600_000;
const attempt: LoginAttempt = { secret: 'x'.repeat(43), to: '/console/' };

describe(IdentityProvider.name, () => {
  let server: TestIdentityProvider;
  let provider: IdentityProvider;
  let passed: number;

  beforeAll(() => Logger.overrideLogger(false));
  beforeEach(async () => {
    server = await TestIdentityProvider.start();
    passed = 0;
    const env = parseEnv({ ...server.settings, MCP_AGGREGATOR_PUBLIC_URL: PUBLIC_URL });
    const clock = { now: () => new Date(), monotonic: () => passed } as Clock;
    provider = new IdentityProvider(env, new Egress(), clock);
  });
  afterEach(() => server.stop());

  const count = (path: string): number => server.asked.filter((one) => one === path).length;
  const begin = (network = '192.0.2.0') => provider.begin(attempt, network);
  const logIn = async (network = '192.0.2.1') =>
    provider.finish(attempt, new URL(server.answerTo(await begin())).searchParams, network);

  it('asks for its metadata once in ten seconds while they cannot be read', async () => {
    server.isDown = true;
    await expect(begin()).rejects.toThrow('is not the metadata');
    await expect(begin()).rejects.toThrow('is not the metadata');
    expect(count(METADATA)).toBe(1);
    server.isDown = false;
    passed += 10_000;
    await expect(begin()).resolves.toContain(server.issuer);
    expect(count(METADATA)).toBe(2);
  });

  it('uses the last metadata for as long as no others can be read', async () => {
    await begin();
    server.isDown = true;
    passed += HOUR;
    for (let login = 0; login < 3; login++) {
      await Promise.all([begin(), begin()]);
      passed += 10_000;
    }
    expect(count(METADATA)).toBe(4);
    server.isDown = false;
    server.metadata = { authorization_endpoint: `${server.issuer}/other` };
    await expect(begin()).resolves.toContain('/other');
  });

  it('keeps the keys while the metadata name the same address', async () => {
    await logIn();
    passed += HOUR;
    await logIn();
    expect([count(METADATA), count('/keys')]).toEqual([2, 1]);
    server.metadata = { jwks_uri: `${server.issuer}/keys?again` };
    passed += HOUR;
    await logIn();
    expect(count('/keys')).toBe(2);
  });

  it('redeems no answer without a code', async () => {
    const back = new URL(server.answerTo(await begin()));
    for (const code of [undefined, '', 'x'.repeat(4_001)]) {
      if (code === undefined) back.searchParams.delete('code');
      else back.searchParams.set('code', code);
      await expect(provider.finish(attempt, back.searchParams, '192.0.2.1')).rejects.toThrow(
        'has no code',
      );
    }
    expect(count('/token')).toBe(0);
  });

  it('lets others log in while one network has eight logins that wait for an answer', async () => {
    const waiting: ServerResponse[] = [];
    server.answerTokens = (response) => void waiting.push(response);
    const back = new URL(server.answerTo(await begin())).searchParams;
    const finish = (network: string) => provider.finish(attempt, back, network);
    const first = Array.from({ length: 8 }, () => finish('192.0.2.1').catch(() => 'refused'));
    await expect(finish('192.0.2.1')).rejects.toThrow('Too many people');
    await eventually(async () => expect(waiting).toHaveLength(8));
    server.answerTokens = undefined;
    await expect(logIn('192.0.2.2')).resolves.toMatchObject({ sub: 'ada' });
    for (const response of waiting) response.writeHead(400).end('{"error":"invalid_grant"}');
    expect(await Promise.all(first)).toEqual(Array.from({ length: 8 }, () => 'refused'));
    await expect(logIn()).resolves.toMatchObject({ sub: 'ada' });
  });
});
