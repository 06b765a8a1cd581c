import { Injectable } from '@nestjs/common';
import { isJsonObject, type JsonObject } from '@app/platform';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { KeyStore } from '../rows/key.store.js';

export const SIGNING_ALGORITHM = 'ES256';
const PUBLIC_MEMBERS = ['kty', 'crv', 'x', 'y', 'kid', 'alg', 'use'];

/** The keys that access tokens are signed with: rows, which every replica has, made when there are none. */
@Injectable()
export class SigningKeys {
  private loaded: Promise<readonly JsonObject[]> | undefined;

  constructor(private readonly store: KeyStore) {}

  /** Private keys as JWKs, the one that signs first. */
  all(): Promise<readonly JsonObject[]> {
    this.loaded ??= this.load().catch((error: unknown) => {
      this.loaded = undefined;
      throw error;
    });
    return this.loaded;
  }

  async publicKeys(): Promise<readonly JsonObject[]> {
    const keys = await this.all();
    return keys.map((key) =>
      Object.fromEntries(PUBLIC_MEMBERS.map((name) => [name, key[name] ?? null])),
    );
  }

  private async load(): Promise<readonly JsonObject[]> {
    const found = await this.store.all();
    if (found.length > 0) return found;
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const kid = randomBytes(12).toString('base64url');
    const jwk: unknown = privateKey.export({ format: 'jwk' });
    if (!isJsonObject(jwk)) throw new Error('a key is exported as an object');
    return this.store.addFirst(kid, { ...jwk, kid, alg: SIGNING_ALGORITHM, use: 'sig' });
  }
}
