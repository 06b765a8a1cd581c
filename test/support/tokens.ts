import type { TokensWithdrawn } from '@app/events';
import type { Clock, ConfiguredToken, Env, Signals } from '@app/platform';
import type { TokenStore } from '../../libs/access/src/authenticate/token.store.js';
import { Tokens } from '../../libs/access/src/authenticate/tokens.js';
import type { ProviderPerson } from '../../libs/access/src/people/person.js';
import type { IssuedToken } from '../../libs/access/src/tokens/issued-token.js';
import type { IssuedTokenStore } from '../../libs/access/src/tokens/issued-token.store.js';

/** What tokens without a database read and write. */
export interface TokenRows {
  readonly configured: ConfiguredToken[];
  issued: readonly IssuedToken[];
  people: readonly ProviderPerson[];
  readonly withdrawn: string[];
  /** The next reads of issued tokens wait for these, after they have read. */
  readonly waits: Promise<void>[];
}

export const noRows = (): TokenRows => ({
  configured: [],
  issued: [],
  people: [],
  withdrawn: [],
  waits: [],
});

/** Tokens whose rows are lists. */
export function tokensOn(env: Env, rows = noRows()): Tokens {
  const store: Pick<TokenStore, 'replaceAll'> = {
    replaceAll: async (given) => {
      rows.configured.push(...given);
      return new Map(given.map(({ name, hash }) => [name, hash]));
    },
  };
  const issued: Pick<IssuedTokenStore, 'valid'> = {
    valid: async () => {
      const read = [...rows.issued];
      await rows.waits.shift();
      return read;
    },
  };
  const signals = {
    tell: async ({ subjects }: TokensWithdrawn) => void rows.withdrawn.push(...subjects),
  };
  return new Tokens(
    env,
    store as TokenStore,
    issued as IssuedTokenStore,
    signals as unknown as Signals,
    { now: () => new Date() } as Clock,
    { alive: async () => rows.people } as never,
  );
}
