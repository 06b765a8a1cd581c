import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

/** About 80 ms and 32 MB. */
const COST = { N: 32_768, r: 8, p: 1, maxmem: 67_108_864 };
const BYTES = 32;
const FORM = /^scrypt\$([\w-]{22})\$([\w-]{43})$/;
/** At the same time: they share the threads that also read files and resolve names. */
const AT_ONCE = 2;

let running = 0;
const waiting: (() => void)[] = [];

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const derived = await derive(password, salt);
  return `scrypt$${salt.toString('base64url')}$${derived.toString('base64url')}`;
}

/** Takes as long without a stored hash, so that the time does not tell who has a password. */
export async function isPassword(password: string, stored: string | undefined): Promise<boolean> {
  const [, salt, hash] = FORM.exec(stored ?? '') ?? [];
  if (salt === undefined || hash === undefined) {
    await derive(password, Buffer.alloc(16));
    return false;
  }
  const derived = await derive(password, Buffer.from(salt, 'base64url'));
  return timingSafeEqual(derived, Buffer.from(hash, 'base64url'));
}

async function derive(password: string, salt: Buffer): Promise<Buffer> {
  if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  try {
    return await new Promise<Buffer>((resolve, reject) => {
      scrypt(password.normalize('NFKC'), salt, BYTES, COST, (error, key) =>
        error ? reject(error) : resolve(key),
      );
    });
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}
