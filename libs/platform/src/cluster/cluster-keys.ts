import { Inject, Injectable } from '@nestjs/common';
import { hkdfSync, randomBytes, scryptSync } from 'node:crypto';
import { Env } from '../config/env.js';

const KEY_BYTES = 32;

/** 32 bytes in hex or base64 are used as the key; any other text is a passphrase for key derivation. */
export function credentialKey(setting: string): Buffer {
  if (/^[0-9a-f]{64}$/i.test(setting)) return Buffer.from(setting, 'hex');
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(setting)) return Buffer.from(setting, 'base64');
  // Fixed salt, so that every replica derives the same key. A random salt would protect a stored list of password
  // hashes; there is none.
  return scryptSync(setting, 'switchboard credential key', KEY_BYTES, { N: 16_384 });
}

/**
 * Keys that all replicas on one database share without exchanging any. Derived from the credential key after its
 * key derivation, so that what they seal for clients does not help to guess a passphrase.
 */
@Injectable()
export class ClusterKeys {
  private readonly roots: readonly Buffer[];

  constructor(@Inject(Env) env: Env) {
    // Only replicas share: a single process needs no key that outlives it.
    const {
      DATABASE_URL,
      MCP_CREDENTIAL_KEY: current,
      MCP_CREDENTIAL_KEY_PREVIOUS: previous,
    } = env;
    this.roots =
      DATABASE_URL && current
        ? [current, ...(previous ? [previous] : [])].map((setting) => credentialKey(setting))
        : [randomBytes(KEY_BYTES)];
  }

  /** The current key first; the one before it is accepted while keys are rotated. */
  derive(purpose: string): readonly [Buffer, ...Buffer[]] {
    const [current, ...previous] = this.roots.map((root) =>
      Buffer.from(hkdfSync('sha256', root, '', `switchboard ${purpose}`, KEY_BYTES)),
    );
    if (!current) throw new Error('there is always a key');
    return [current, ...previous];
  }
}
