import { parseEnv, type TokenScope } from '@app/platform';
import { createHash } from 'node:crypto';
import { noRows, type TokenRows, tokensOn } from '../../../../test/support/tokens.js';
import type { IssuedToken } from '../tokens/issued-token.js';
import { Tokens } from './tokens.js';

const hashOf = (token: string, encoding: 'hex' | 'latin1' = 'latin1'): string =>
  createHash('sha256').update(token).digest().toString(encoding);

let rows: TokenRows;
beforeEach(() => {
  rows = noRows();
});

async function load(tokens: string): Promise<Tokens> {
  const loaded = tokensOn(parseEnv({ MCP_AGGREGATOR_TOKENS: tokens }), rows);
  await loaded.load();
  return loaded;
}

const MINUTE = 60_000;
const VIEW = { viewId: 'id of a view', level: 'call' };
const issuedToken = (
  name: string,
  secret: string,
  more: Partial<IssuedToken> = {},
): IssuedToken => ({
  id: `id of ${name}`,
  name,
  scopes: ['call'],
  hash: hashOf(secret, 'hex'),
  previousHash: null,
  previousUntil: null,
  createdBy: 'ops',
  createdAt: new Date(),
  expiresAt: null,
  view: null,
  lastUsedAt: null,
  ...more,
});

describe(Tokens.name, () => {
  it('finds the principal of a token and stores only hashes', async () => {
    const tokens = await load('ci:read:token-of-the-ci-job,ops:admin:token-of-operators');
    expect(tokens.find(hashOf('token-of-operators'))).toEqual({
      name: 'ops',
      scopes: ['admin'],
      subjects: ['token:ops'],
      subject: 'token:ops',
    });
    expect(tokens.find(hashOf('unknown-token-text'))).toBeUndefined();
    expect(rows.configured.map(({ hash }) => hash)).toEqual([
      hashOf('token-of-the-ci-job', 'hex'),
      hashOf('token-of-operators', 'hex'),
    ]);
  });

  it('compares the whole hash, not only the prefix', async () => {
    const tokens = await load('ci:read:token-of-the-ci-job');
    const hash = hashOf('token-of-the-ci-job');
    const last = hash.endsWith('a') ? 'b' : 'a';
    expect(tokens.find(hash.slice(0, -1) + last)).toBeUndefined();
  });

  it('creates no token when an issuer of JWTs is configured', async () => {
    const env = parseEnv({
      MCP_AGGREGATOR_JWKS_URL: 'https://id.example/keys',
      MCP_AGGREGATOR_JWT_ISSUER: 'https://id.example',
      MCP_AGGREGATOR_JWT_AUDIENCE: 'switchboard',
    });
    const tokens = tokensOn(env, rows);
    await tokens.load();
    expect([tokens.takeNewToken(), rows.configured]).toEqual([undefined, []]);
  });

  it('creates no token when some are configured', async () => {
    const tokens = await load('ci:read:token-of-the-ci-job');
    expect(tokens.takeNewToken()).toBeUndefined();
  });

  describe('issued by request', () => {
    const CONFIGURED = 'ops:admin:token-of-operators';
    const named = (name: string) => ({
      name,
      scopes: ['call'],
      subjects: [`token:${name}`],
      subject: `issued:id of ${name}`,
    });

    it('are found beside the configured ones, as soon as they are read and until they are dropped', async () => {
      rows.issued = [issuedToken('ci', 'secret of ci')];
      const tokens = await load(CONFIGURED);
      expect(tokens.find(hashOf('secret of ci'))).toEqual(named('ci'));
      rows.issued = [...rows.issued, issuedToken('lab', 'secret of lab')];
      await tokens.reload();
      expect(tokens.find(hashOf('secret of lab'))).toEqual(named('lab'));
      expect(tokens.find(hashOf('secret of ci'))).toEqual(named('ci'));
      await tokens.drop('id of ci');
      expect(tokens.find(hashOf('secret of ci'))).toBeUndefined();
      expect(tokens.find(hashOf('token-of-operators'))).toBeDefined();
      expect(rows.withdrawn).toEqual(['issued:id of ci']);
    });

    it('are refused from the moment of their expiry, before their rows are read again', async () => {
      const soon = issuedToken('ci', 'secret of ci', { expiresAt: new Date(Date.now() + MINUTE) });
      rows.issued = [soon];
      const tokens = await load(CONFIGURED);
      expect(tokens.find(hashOf('secret of ci'))).toEqual(named('ci'));
      rows.issued = [{ ...soon, expiresAt: new Date(Date.now() - 1) }];
      await tokens.reload();
      expect(tokens.find(hashOf('secret of ci'))).toBeUndefined();
      rows.issued = [];
      await tokens.reload();
      expect(rows.withdrawn).toEqual(['issued:id of ci']);
    });

    it('are accepted with the secret before the last rotation for as long as the overlap lasts', async () => {
      const rotated = issuedToken('ci', 'new secret', {
        previousHash: hashOf('old secret', 'hex'),
        previousUntil: new Date(Date.now() + MINUTE),
      });
      rows.issued = [rotated];
      const tokens = await load(CONFIGURED);
      expect(tokens.find(hashOf('old secret'))).toEqual(named('ci'));
      rows.issued = [{ ...rotated, previousUntil: new Date(Date.now() - 1) }];
      await tokens.reload();
      expect(tokens.find(hashOf('old secret'))).toBeUndefined();
      expect(tokens.find(hashOf('new secret'))).toEqual(named('ci'));
      expect(rows.withdrawn).toEqual([]);
    });

    it('have an account for each secret, which ends with it', async () => {
      const old = issuedToken('ci', 'old secret');
      rows.issued = [old];
      const tokens = await load(CONFIGURED);
      const [first = ''] = tokens.accountsNamed('ci');
      expect(tokens.byAccount(first)).toEqual(named('ci'));
      const rotated = {
        ...old,
        hash: hashOf('new secret', 'hex'),
        previousHash: old.hash,
        previousUntil: new Date(Date.now() + MINUTE),
      };
      rows.issued = [rotated];
      await tokens.reload();
      expect(tokens.accountsNamed('ci')).toEqual([expect.not.stringMatching(first), first]);
      expect(tokens.byAccount(first)).toEqual(named('ci'));
      rows.issued = [{ ...rotated, previousUntil: new Date(Date.now() - 1) }];
      await tokens.reload();
      expect(tokens.byAccount(first)).toBeUndefined();
      expect(first).not.toContain(old.hash.slice(0, 8));
    });

    it('are refused while a configured token has their name, whose sessions stay when they are revoked', async () => {
      rows.issued = [issuedToken('ops', 'issued secret of ops', { view: VIEW })];
      const tokens = await load(CONFIGURED);
      expect(tokens.find(hashOf('issued secret of ops'))).toBeUndefined();
      expect(tokens.named('ops')?.pinned).toBeUndefined();
      await tokens.drop('id of ops');
      rows.issued = [];
      await tokens.reload();
      expect(tokens.find(hashOf('token-of-operators'))).toBeDefined();
      expect(rows.withdrawn).toEqual([]);
    });

    it('stay refused when rows that were read before they were revoked come late', async () => {
      rows.issued = [issuedToken('ci', 'secret of ci')];
      const tokens = await load(CONFIGURED);
      let answer = (): void => undefined;
      rows.waits.push(new Promise((resolve) => (answer = resolve)));
      const early = tokens.reload();
      rows.issued = [];
      const late = tokens.reload();
      await new Promise((resolve) => setImmediate(resolve));
      answer();
      await Promise.all([early, late]);
      expect(tokens.find(hashOf('secret of ci'))).toBeUndefined();
    });

    it('are withdrawn when another of their name has taken their place', async () => {
      rows.issued = [issuedToken('ci', 'secret of ci')];
      const tokens = await load(CONFIGURED);
      rows.issued = [issuedToken('ci', 'secret of another', { id: 'id of another' })];
      await tokens.reload();
      expect(rows.withdrawn).toEqual(['issued:id of ci']);
    });

    it('are told once after they were used', async () => {
      rows.issued = [issuedToken('ci', 'secret of ci')];
      const tokens = await load(CONFIGURED);
      tokens.find(hashOf('secret of ci'));
      tokens.find(hashOf('token-of-operators'));
      rows.issued = [...rows.issued, issuedToken('lab', 'secret of lab')];
      await tokens.reload();
      expect(tokens.takeUsed()).toEqual(['id of ci']);
      expect(tokens.takeUsed()).toEqual([]);
    });
  });

  it('tells of people of an identity provider who may do less than before, and of no others', async () => {
    const issuer = 'https://id.example.com';
    const env = parseEnv({
      MCP_AGGREGATOR_TOKENS: 'ops:admin:token-of-operators',
      MCP_AGGREGATOR_LOGIN_ISSUER: issuer,
      MCP_AGGREGATOR_LOGIN_CLIENT_ID: 'switchboard',
      MCP_AGGREGATOR_PUBLIC_URL: 'https://mcp.example.com',
    });
    const person = (subject: string, scopes: readonly TokenScope[], groups: readonly string[]) => ({
      ...{ id: `id of ${subject}`, subject, label: subject, scopes, groups },
      ...{ sessionHash: hashOf(subject, 'hex'), endsAt: new Date(Date.now() + MINUTE) },
    });
    rows.people = [
      person('ada', ['read', 'call'], ['a']),
      person('bo', ['read'], ['a', 'b']),
      person('cy', ['read'], ['a']),
      person('dee', ['read'], []),
    ];
    const tokens = tokensOn(env, rows);
    await tokens.load();
    rows.people = [
      person('ada', ['read'], ['a']),
      person('bo', ['read'], ['b']),
      person('cy', ['read', 'call'], ['a', 'b']),
    ];
    await tokens.reload();
    expect(rows.withdrawn).toEqual(['ada', 'bo', 'dee'].map((one) => `jwt:${issuer} ${one}`));
  });
});
