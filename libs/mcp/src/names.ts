import { createHash } from 'node:crypto';

/**
 * One tool has two names of ours: the canonical `{server}.{tool}` of storage and REST, and a wire name
 * that every MCP client of today accepts (RULINGS R31). Both depend on nothing but server and tool, so a
 * name stays what it is when other servers come and go. Prompts are named by the same rule.
 */
export function canonicalName(server: string, tool: string): string {
  return `${server}.${tool}`;
}

/** Clients allow 64 characters and put up to 16 of their own in front. */
export const MAX_WIRE_NAME = 48;

/** Tools of ours that stand on the wire under a name that looks like `{server}__{tool}`. */
const RESERVED = new Set(['mcp__proxy__aggregator__query']);

/**
 * `{server}__{tool}` where that is short, made of allowed characters and can be read in one way only;
 * otherwise a readable beginning and 64 bits of a hash. Plain names never look like hashed ones, so
 * the function is injective up to a collision of the hash.
 */
export function wireName(server: string, tool: string): string {
  const plain = `${server}__${tool}`;
  return isUnmistakable(server, tool, plain) ? plain : hashedName(server, tool, plain);
}

function isUnmistakable(server: string, tool: string, plain: string): boolean {
  return (
    plain.length <= MAX_WIRE_NAME &&
    /^[a-zA-Z0-9_-]+$/.test(plain) &&
    tool !== '' &&
    // The first `__` is the seam.
    !server.includes('__') &&
    !server.endsWith('_') &&
    !HASHED.test(plain) &&
    !RESERVED.has(plain)
  );
}

const HASH_LENGTH = 13;
const HASHED = new RegExp(`__[a-z2-7]{${HASH_LENGTH}}$`);

function hashedName(server: string, tool: string, plain: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([server, tool]))
    .digest();
  const readable = plain
    .replace(/[^a-zA-Z0-9_-]/g, '_')
    .slice(0, MAX_WIRE_NAME - HASH_LENGTH - 2)
    .replace(/_+$/, '');
  return `${readable}__${base32(digest)}`;
}

function base32(bytes: Buffer): string {
  const bits = bytes.readBigUInt64BE(0);
  const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
  return Array.from({ length: HASH_LENGTH }, (_, i) =>
    alphabet.charAt(Number((bits >> BigInt(i * 5)) & 31n)),
  ).join('');
}
