import { lookup } from 'node:dns/promises';
import { BlockList } from 'node:net';

/** How far away an address is; `none` is no address of a single machine, or one that gives its secrets to anybody. */
export type Reach = 'public' | 'private' | 'loopback' | 'none';

const ranges: readonly (readonly [Reach, string, number])[] = [
  ['loopback', '127.0.0.0', 8],
  ['loopback', '::1', 128],
  ['private', '10.0.0.0', 8],
  ['private', '100.64.0.0', 10],
  ['private', '172.16.0.0', 12],
  ['private', '192.168.0.0', 16],
  ['private', 'fc00::', 7],
  ['none', '0.0.0.0', 8],
  ['none', '169.254.0.0', 16],
  ['none', '192.0.0.0', 24],
  ['none', '224.0.0.0', 3],
  ['none', '::', 128],
  ['none', '64:ff9b::', 96],
  ['none', 'fe80::', 10],
  ['none', 'ff00::', 8],
];

const lists = ranges.map(([reach, network, prefix]) => {
  const list = new BlockList();
  list.addSubnet(network, prefix, familyOf(network));
  return { reach, list };
});

/** IPv4 addresses inside IPv6 ones count as what they are: the lists look into them. */
export function reachOf(scoped: string): Reach {
  const address = scoped.replace(/%.*$/, '');
  return lists.find(({ list }) => list.check(address, familyOf(address)))?.reach ?? 'public';
}

/** The nearest of all addresses of a host. */
export async function reachOfHost(hostname: string): Promise<Reach> {
  const addresses = await lookup(hostname.replace(/^\[|\]$/g, ''), { all: true });
  const found = addresses.map(({ address }) => reachOf(address));
  return nearness.find((reach) => found.includes(reach)) ?? 'none';
}

const nearness: readonly Reach[] = ['loopback', 'private', 'public', 'none'];

/** A server may name places that are as far away as itself, or farther: else it could look around through us. */
export function mayName(server: Reach, named: Reach): boolean {
  return named !== 'none' && nearness.indexOf(named) >= nearness.indexOf(server);
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4';
}
