import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';

const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const HEAD_BYTES = SALT_BYTES + NONCE_BYTES;
const TAG_BYTES = 16;
const BETWEEN_KEYS = '~';
const MAX_COPIES = 2;

/**
 * Encrypts and authenticates state that a client carries for us; bound to a purpose and an expiry. Each text has a key
 * of its own, so that replicas can seal with one key for years and never repeat a nonce.
 */
export class Seal {
  constructor(
    private readonly lifetimeMs: number,
    private readonly now: () => number,
    /** Two while keys are rotated. */
    private readonly keys: readonly [Buffer, ...Buffer[]] = [randomBytes(32)],
  ) {}

  /** Once with each key: while they are rotated, a replica may know only one of the two. */
  close(text: string, purpose: string): string {
    const dated = `${this.now() + this.lifetimeMs}:${text}`;
    return this.keys.map((key) => closing(dated, key, purpose)).join(BETWEEN_KEYS);
  }

  /** Undefined for text that was not sealed by one of the keys for this purpose, or has expired. */
  open(sealed: string, purpose: string): string | undefined {
    const copies = sealed
      .split(BETWEEN_KEYS, MAX_COPIES)
      .map((copy) => Buffer.from(copy, 'base64url'));
    const opened = this.keys
      .flatMap((key) => copies.map((bytes) => opening(bytes, key, purpose)))
      .find((text) => text !== undefined);
    if (opened === undefined) return undefined;
    const colon = opened.indexOf(':');
    return Number(opened.slice(0, colon)) > this.now() ? opened.slice(colon + 1) : undefined;
  }
}

function closing(text: string, key: Buffer, purpose: string): string {
  const head = randomBytes(HEAD_BYTES);
  const nonce = head.subarray(SALT_BYTES);
  const cipher = createCipheriv('aes-256-gcm', ownKey(key, head), nonce).setAAD(
    Buffer.from(purpose),
  );
  const body = cipher.update(text, 'utf8');
  return Buffer.concat([head, body, cipher.final(), cipher.getAuthTag()]).toString('base64url');
}

function opening(bytes: Buffer, key: Buffer, purpose: string): string | undefined {
  if (bytes.length < HEAD_BYTES + TAG_BYTES) return undefined;
  const nonce = bytes.subarray(SALT_BYTES, HEAD_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', ownKey(key, bytes), nonce)
    .setAAD(Buffer.from(purpose))
    .setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const text = decipher.update(bytes.subarray(HEAD_BYTES, -TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString();
  } catch {
    return undefined;
  }
}

function ownKey(key: Buffer, head: Buffer): Buffer {
  return createHmac('sha256', key).update(head.subarray(0, SALT_BYTES)).digest();
}
