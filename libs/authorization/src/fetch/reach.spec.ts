import { mayName, nearest, type Reach, reachOf } from './reach.js';

describe(reachOf.name, () => {
  it.each<[Reach, string[]]>([
    ['loopback', ['127.0.0.1', '127.8.8.8', '::1']],
    ['private', ['10.1.2.3', '172.31.0.1', '192.168.1.1', '100.64.0.1', 'fd00::1']],
    ['public', ['1.1.1.1', '172.32.0.1', '2606:4700::1111']],
    // Addresses like these reach this code only if the operator allowed them.
    ['private', ['169.254.1.1', 'fe80::1%eth0', '::ffff:8.8.8.8', '64:ff9b::808:808']],
  ])('%s: %j', (reach, addresses) => {
    expect(addresses.map((address) => [address, reachOf(address)])).toEqual(
      addresses.map((address) => [address, reach]),
    );
  });
});

describe(nearest.name, () => {
  it('returns the nearest address of a host', () => {
    const host = (...addresses: string[]) =>
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    expect(nearest(host('1.1.1.1', '10.0.0.1'))).toBe('private');
    expect(nearest(host('10.0.0.1', '::1'))).toBe('loopback');
    expect(nearest(host('1.1.1.1'))).toBe('public');
  });
});

describe(mayName.name, () => {
  it('lets a server name only hosts that are as public as itself, or more', () => {
    const allowed = (server: Reach): Reach[] =>
      (['loopback', 'private', 'public'] as const).filter((named) => mayName(server, named));
    expect(allowed('public')).toEqual(['public']);
    expect(allowed('private')).toEqual(['private', 'public']);
    expect(allowed('loopback')).toEqual(['loopback', 'private', 'public']);
  });
});
