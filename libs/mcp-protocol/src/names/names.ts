import { createHash } from 'node:crypto';

/**
 * A tool has two names here: the canonical `{server}.{tool}` of storage and REST, and a wire name that every
 * current MCP client accepts (contract R31). Both depend only on server and tool, so a name does not change when
 * other servers are added or removed. Prompts are named by the same rule.
 */
export function canonicalName(server: string, tool: string): string {
  return `${server}.${tool}`;
}

/** Clients allow 64 characters and add a prefix of up to 16. */
export const MAX_WIRE_NAME = 48;

/** The aggregated query: our own tool, whose wire name has the form `{server}__{tool}`. */
export const QUERY_TOOL_NAME = 'mcp__proxy__aggregator__query';

/**
 * `{server}__{tool}` where that is short, made of allowed characters and can be split in one way only;
 * otherwise a readable prefix and 55 bits of a hash, followed by a check of both. A plain name that has the form of a
 * hashed one (`azure__communication`) is kept unless the check holds too, so the function is injective except for
 * hash collisions.
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
    // The first `__` is the separator.
    !server.includes('__') &&
    !server.endsWith('_') &&
    !isHashed(plain) &&
    plain !== QUERY_TOOL_NAME
  );
}

const HASH_LENGTH = 13;
const CHECK_LENGTH = 2;
const HASHED = new RegExp(`__[a-z2-7]{${HASH_LENGTH}}$`);

function isHashed(name: string): boolean {
  return HASHED.test(name) && checkOf(name.slice(0, -CHECK_LENGTH)) === name.slice(-CHECK_LENGTH);
}

function hashedName(server: string, tool: string, plain: string): string {
  const readable = plain
    .replace(/[^a-zA-Z0-9_-]/g, '_')
    .slice(0, MAX_WIRE_NAME - HASH_LENGTH - 2)
    .replace(/_+$/, '');
  const hash = hashOf(JSON.stringify([server, tool]), HASH_LENGTH - CHECK_LENGTH);
  const hashed = `${readable}__${hash}`;
  return hashed + checkOf(hashed);
}

function checkOf(hashed: string): string {
  return hashOf(hashed, CHECK_LENGTH);
}

/** The first characters of the SHA-256 in base32. */
function hashOf(text: string, length: number): string {
  const bits = createHash('sha256').update(text).digest().readBigUInt64BE(0);
  const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
  return Array.from({ length }, (_, i) =>
    alphabet.charAt(Number((bits >> BigInt(i * 5)) & 31n)),
  ).join('');
}
