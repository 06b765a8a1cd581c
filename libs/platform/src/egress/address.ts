import { isIPv4, isIPv6 } from 'node:net';

/** An IP address as bytes: 4 of them for IPv4, 16 for IPv6. */
export type Address = readonly number[];

/** All addresses that share the first `prefix` bits. */
export interface AddressRange {
  readonly network: Address;
  readonly prefix: number;
}

/** Undefined for anything that is not an IP address; a zone id (`%eth0`) and the brackets of a URL are ignored. */
export function parseAddress(text: string): Address | undefined {
  const plain = text.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/, '');
  if (isIPv4(plain)) return plain.split('.').map(Number);
  return isIPv6(plain) ? ipv6Bytes(plain) : undefined;
}

/** `10.0.0.0/8`, `fd00::/8`, or one address. */
export function parseRange(text: string): AddressRange | undefined {
  const [, address = '', bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const network = address.includes('%') ? undefined : parseAddress(address);
  if (!network) return undefined;
  const size = network.length * 8;
  const prefix = bits === undefined ? size : Number(bits);
  return prefix <= size ? { network, prefix } : undefined;
}

/** Ranges match addresses of their own family only; embedded IPv4 addresses are checked separately. */
export function isInRange(address: Address, { network, prefix }: AddressRange): boolean {
  if (address.length !== network.length) return false;
  const whole = prefix >> 3;
  for (let at = 0; at < whole; at++) if (address[at] !== network[at]) return false;
  const rest = prefix & 7;
  const mask = (0xff << (8 - rest)) & 0xff;
  return rest === 0 || ((address[whole] ?? 0) & mask) === ((network[whole] ?? 0) & mask);
}

function ipv6Bytes(text: string): Address {
  const [head = '', tail] = text.split('::');
  const front = groupBytes(head);
  if (tail === undefined) return front;
  const back = groupBytes(tail);
  const gap = Array.from({ length: 16 - front.length - back.length }, () => 0);
  return [...front, ...gap, ...back];
}

/** The last group may be written as IPv4. */
function groupBytes(groups: string): number[] {
  if (groups === '') return [];
  return groups.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}
