import { createCipheriv, createDecipheriv, createHash, randomBytes, scryptSync } from 'node:crypto';
import { z } from 'zod';

/** Encrypted text as it stands in a row: AES-256-GCM, with the id of the key that locks it. */
export const envelopeSchema = z.strictObject({
  v: z.literal(1),
  kid: z.string(),
  iv: z.base64url(),
  tag: z.base64url(),
  data: z.base64url(),
});
export type Envelope = z.infer<typeof envelopeSchema>;

/** Where the text belongs. It is bound into the envelope, so that one row's secret cannot be put into another. */
export interface Place {
  readonly table: string;
  readonly row: string;
  readonly field: string;
}

export class VaultKey {
  readonly id: string;

  private constructor(private readonly bytes: Buffer) {
    this.id = createHash('sha256')
      .update('switchboard key id')
      .update(bytes)
      .digest('hex')
      .slice(0, 16);
  }

  /** 32 bytes in hex or base64 are the key itself; anything else is a passphrase it is derived from. */
  static from(setting: string): VaultKey {
    if (/^[0-9a-f]{64}$/i.test(setting)) return new VaultKey(Buffer.from(setting, 'hex'));
    if (/^[A-Za-z0-9+/_-]{43}=?$/.test(setting))
      return new VaultKey(Buffer.from(setting, 'base64'));
    // One fixed salt: the key has to come out the same on every replica, and no list of passphrases is stored.
    return new VaultKey(scryptSync(setting, 'switchboard credential key', 32, { N: 16_384 }));
  }

  seal(text: string, place: Place): Envelope {
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.bytes, iv).setAAD(placeBytes(place));
    const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return {
      v: 1,
      kid: this.id,
      iv: iv.toString('base64url'),
      tag: cipher.getAuthTag().toString('base64url'),
      data: data.toString('base64url'),
    };
  }

  /** Throws when the envelope was made with another key, for another place, or was changed. */
  open(envelope: Envelope, place: Place): string {
    const decipher = createDecipheriv(
      'aes-256-gcm',
      this.bytes,
      Buffer.from(envelope.iv, 'base64url'),
      {
        authTagLength: 16,
      },
    )
      .setAAD(placeBytes(place))
      .setAuthTag(Buffer.from(envelope.tag, 'base64url'));
    const text = Buffer.concat([
      decipher.update(Buffer.from(envelope.data, 'base64url')),
      decipher.final(),
    ]);
    return text.toString('utf8');
  }
}

function placeBytes({ table, row, field }: Place): Buffer {
  return Buffer.from(JSON.stringify([table, row, field]));
}
