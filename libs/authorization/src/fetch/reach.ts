import { classify, parseAddress } from '@app/platform';
import type { LookupAddress } from 'node:dns';

/** How far away an address is. A special-purpose address was allowed by the operator and counts as private. */
export type Reach = 'public' | 'private' | 'loopback';

const nearness: readonly Reach[] = ['loopback', 'private', 'public'];

export function reachOf(address: string): Reach {
  const bytes = parseAddress(address);
  const kind = bytes ? classify(bytes).kind : 'reserved';
  return kind === 'reserved' ? 'private' : kind;
}

/** The nearest of all addresses of a host. */
export function nearest(addresses: readonly LookupAddress[]): Reach {
  const found = addresses.map(({ address }) => reachOf(address));
  return nearness.find((reach) => found.includes(reach)) ?? 'public';
}

/** A server may name hosts that are as far away as itself, or farther: nearer ones would allow SSRF through us. */
export function mayName(server: Reach, named: Reach): boolean {
  return nearness.indexOf(named) >= nearness.indexOf(server);
}
