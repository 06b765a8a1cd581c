import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts and authenticates state that a client carries for us; bound to a purpose and an expiry. */
export class Seal {
  private readonly key = randomBytes(32);

  constructor(
    private readonly lifetimeMs: number,
    private readonly now: () => number,
  ) {}

  close(text: string, purpose: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.key, nonce).setAAD(Buffer.from(purpose));
    const body = cipher.update(`${this.now() + this.lifetimeMs}:${text}`, 'utf8');
    return Buffer.concat([nonce, body, cipher.final(), cipher.getAuthTag()]).toString('base64url');
  }

  /** Undefined for text that was not sealed by this key for this purpose, or has expired. */
  open(sealed: string, purpose: string): string | undefined {
    const bytes = Buffer.from(sealed, 'base64url');
    if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
    const decipher = createDecipheriv('aes-256-gcm', this.key, bytes.subarray(0, NONCE_BYTES))
      .setAAD(Buffer.from(purpose))
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    let opened: string;
    try {
      opened =
        decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)).toString() +
        decipher.final().toString();
    } catch {
      return undefined;
    }
    const colon = opened.indexOf(':');
    return Number(opened.slice(0, colon)) > this.now() ? opened.slice(colon + 1) : undefined;
  }
}
