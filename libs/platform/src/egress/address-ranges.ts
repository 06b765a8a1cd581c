import { type Address, type AddressRange, isInRange, parseRange } from './address.js';

/**
 * `loopback` and `private` are this machine and its networks; `reserved` are addresses that no server has, or that give
 * secrets to every local program (metadata services of clouds).
 */
export type AddressKind = 'public' | 'private' | 'loopback' | 'reserved';

export interface AddressClass {
  readonly kind: AddressKind;
  /** A noun phrase that follows "is": "a link-local address". */
  readonly what: string;
  /** The IPv4 address that packets to this address reach, if it embeds one. */
  readonly embedded?: Address;
}

interface Row extends AddressClass {
  readonly range: AddressRange;
  readonly embeds?: (address: Address) => Address;
}

const lastFour = (address: Address): Address => address.slice(12);
const METADATA = 'the metadata service of a cloud';

/**
 * IANA's special-purpose registries (RFC 6890) and the metadata services of clouds outside the link-local range. The
 * first matching row decides.
 */
const rows: readonly Row[] = [
  ...row('loopback', 'a loopback address', ['127.0.0.0/8', '::1/128']),
  ...row('reserved', METADATA, [
    ...['169.254.169.254', '169.254.170.2', '100.100.100.200', '192.0.0.192', '168.63.129.16'],
    ...['fd00:ec2::/32', 'fd20:ce::254', 'fd00:42::42', 'fd00:c1::a9fe:a9fe'],
  ]),
  ...row('private', 'a private address', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16']),
  ...row('private', 'a shared address of a provider or an overlay network', ['100.64.0.0/10']),
  ...row('private', 'a private address', ['fc00::/7']),
  ...row('reserved', 'the unspecified address, which is this machine', ['0.0.0.0/8', '::/128']),
  ...row('reserved', 'a link-local address', ['169.254.0.0/16', 'fe80::/10']),
  ...row('reserved', 'a site-local address', ['fec0::/10']),
  ...row('reserved', 'a multicast address', ['224.0.0.0/4', 'ff00::/8']),
  ...row('reserved', 'the broadcast address', ['255.255.255.255/32']),
  ...row('reserved', 'a 6to4 relay', ['192.88.99.0/24']),
  ...row('reserved', 'an address for documentation', [
    ...['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20'],
  ]),
  ...row('reserved', 'an address for benchmarks', ['198.18.0.0/15']),
  ...row('reserved', 'a reserved address', ['192.0.0.0/24', '240.0.0.0/4']),
  ...row('reserved', 'an IPv4-mapped address', ['::ffff:0:0/96'], lastFour),
  ...row('reserved', 'an IPv4-translated address', ['::ffff:0:0:0/96'], lastFour),
  ...row('reserved', 'an IPv4-compatible address', ['::/96'], lastFour),
  // Of the second prefix only the 96-bit form is decoded (RFC 8215 leaves the length to the network).
  ...row('reserved', 'a NAT64 address', ['64:ff9b::/96', '64:ff9b:1::/48'], lastFour),
  ...row('reserved', 'a 6to4 address', ['2002::/16'], (address) => address.slice(2, 6)),
  // The client's address is stored with all bits inverted (RFC 4380).
  ...row('reserved', 'a Teredo address', ['2001::/32'], (address) =>
    lastFour(address).map((byte) => byte ^ 0xff),
  ),
  ...row('reserved', 'a reserved address', ['2001::/23']),
];

/** The IPv6 range allocated for the public internet. */
const globalUnicast = rangeOf('2000::/3');

export function classify(address: Address): AddressClass {
  const found = rows.find(({ range }) => isInRange(address, range));
  if (found) {
    const { kind, what, embeds } = found;
    return { kind, what, ...(embeds && { embedded: embeds(address) }) };
  }
  return address.length === 4 || isInRange(address, globalUnicast)
    ? { kind: 'public', what: 'a public address' }
    : { kind: 'reserved', what: 'a reserved address' };
}

function row(
  kind: AddressKind,
  what: string,
  ranges: readonly string[],
  embeds?: Row['embeds'],
): Row[] {
  return ranges.map((text) => ({ kind, what, range: rangeOf(text), ...(embeds && { embeds }) }));
}

function rangeOf(text: string): AddressRange {
  const range = parseRange(text);
  if (!range) throw new Error(`not a range of addresses: ${text}`);
  return range;
}
