import { credentialKey } from '@app/platform';
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';

/** AES-256-GCM ciphertext as stored in a row, with the id of its key. */
export const sealedCredentialSchema = z.strictObject({
  v: z.literal(1),
  kid: z.string(),
  iv: z.base64url(),
  tag: z.base64url(),
  data: z.base64url(),
});
export type SealedCredential = z.infer<typeof sealedCredentialSchema>;

/**
 * Table, row and column of the text. Bound into what is sealed as additional data, so that it cannot be moved to
 * another row.
 */
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

  static from(setting: string): VaultKey {
    return new VaultKey(credentialKey(setting));
  }

  seal(text: string, place: Place): SealedCredential {
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

  /** Throws if it was sealed with another key or for another place, or was modified. */
  open(sealed: SealedCredential, place: Place): string {
    const decipher = createDecipheriv(
      'aes-256-gcm',
      this.bytes,
      Buffer.from(sealed.iv, 'base64url'),
      {
        authTagLength: 16,
      },
    )
      .setAAD(placeBytes(place))
      .setAuthTag(Buffer.from(sealed.tag, 'base64url'));
    const text = Buffer.concat([
      decipher.update(Buffer.from(sealed.data, 'base64url')),
      decipher.final(),
    ]);
    return text.toString('utf8');
  }
}

function placeBytes({ table, row, field }: Place): Buffer {
  return Buffer.from(JSON.stringify([table, row, field]));
}
