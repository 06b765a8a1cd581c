import { Injectable } from '@nestjs/common';
import { CoalescedRuns, type JsonObject } from '@app/platform';
import { KeyStore } from '../rows/key.store.js';
import { newSigningKey } from './signing-key.js';

/** Topic of messages between replicas. */
export const SIGNING_KEYS_CHANGED = 'keys of OAuth tokens';
/** What everyone may know of a key. */
const PUBLIC_MEMBERS = ['kty', 'crv', 'x', 'y', 'kid', 'alg', 'use'];

/**
 * The keys that access tokens are signed with: rows, which every replica has, made when there are none. They are read
 * when they are needed first, and again after a change.
 */
@Injectable()
export class SigningKeys {
  private loaded: Promise<KeySet> | undefined;
  private readonly reloads = new CoalescedRuns();
  private newest: KeySet = { version: 0, keys: [] };

  constructor(private readonly store: KeyStore) {}

  /** Of the newest set: what was made with another one counts no more. */
  get version(): number {
    return this.newest.version;
  }

  current(): Promise<KeySet> {
    this.loaded ??= this.load().catch((error: unknown) => {
      this.loaded = undefined;
      throw error;
    });
    return this.loaded;
  }

  async publicKeys(): Promise<readonly JsonObject[]> {
    const { keys } = await this.current();
    return keys.map((key) =>
      Object.fromEntries(PUBLIC_MEMBERS.map((name) => [name, key[name] ?? null])),
    );
  }

  /** After a change of the rows; nothing is read before the keys are needed. While they cannot be read, they stay. */
  reload(): Promise<void> {
    return this.reloads.run('keys', async () => {
      if (!this.loaded) return;
      const set = await this.load();
      this.loaded = Promise.resolve(set);
    });
  }

  private async load(): Promise<KeySet> {
    const found = await this.store.all();
    const keys = found.length > 0 ? found : await this.store.addFirst(newSigningKey());
    const isNew = idsOf(keys) !== idsOf(this.newest.keys);
    if (isNew) this.newest = { version: this.newest.version + 1, keys };
    return this.newest;
  }
}

function idsOf(keys: readonly JsonObject[]): string {
  return JSON.stringify(keys.map(({ kid }) => kid));
}

export interface KeySet {
  readonly version: number;
  /** Private keys as JWKs, the one that signs first. */
  readonly keys: readonly JsonObject[];
}
