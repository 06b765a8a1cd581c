import { createHash } from 'node:crypto';
import { type ConfiguredToken, parseEnv } from '@app/platform';
import type { TokenStore } from './token.store.js';
import { Tokens } from './tokens.js';

const hashOf = (token: string, encoding: 'hex' | 'latin1' = 'latin1'): string =>
  createHash('sha256').update(token).digest().toString(encoding);

async function load(tokens: string): Promise<{ tokens: Tokens; rows: readonly ConfiguredToken[] }> {
  const rows: ConfiguredToken[] = [];
  const store: Pick<TokenStore, 'replaceAll'> = {
    replaceAll: async (given) => void rows.push(...given),
  };
  const loaded = new Tokens(parseEnv({ MCP_AGGREGATOR_TOKENS: tokens }), store as TokenStore);
  await loaded.load();
  return { tokens: loaded, rows };
}

describe(Tokens.name, () => {
  it('finds the principal of a token and stores only hashes', async () => {
    const { tokens, rows } = await load('ci:read:token-of-the-ci-job,ops:admin:token-of-operators');
    expect(tokens.find(hashOf('token-of-operators'))).toEqual({ name: 'ops', scopes: ['admin'] });
    expect(tokens.find(hashOf('unknown-token-text'))).toBeUndefined();
    expect(rows.map(({ hash }) => hash)).toEqual([
      hashOf('token-of-the-ci-job', 'hex'),
      hashOf('token-of-operators', 'hex'),
    ]);
  });

  it('compares the whole hash, not only the prefix', async () => {
    const { tokens } = await load('ci:read:token-of-the-ci-job');
    const hash = hashOf('token-of-the-ci-job');
    const last = hash.endsWith('a') ? 'b' : 'a';
    expect(tokens.find(hash.slice(0, -1) + last)).toBeUndefined();
  });

  it('creates no token when some are configured', async () => {
    const { tokens } = await load('ci:read:token-of-the-ci-job');
    expect(tokens.takeNewToken()).toBeUndefined();
  });
});
