import { mayName, type Reach, reachOf } from './reach.js';

describe(reachOf.name, () => {
  it.each<[Reach, string[]]>([
    ['loopback', ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1']],
    [
      'private',
      ['10.1.2.3', '172.31.0.1', '192.168.1.1', '100.64.0.1', 'fd00::1', '::ffff:10.0.0.1'],
    ],
    ['public', ['1.1.1.1', '172.32.0.1', '2606:4700::1111', '::ffff:8.8.8.8']],
    // The second is where machines in a cloud ask for their keys.
    [
      'none',
      [
        '0.0.0.0',
        '169.254.169.254',
        'fe80::1%eth0',
        '224.0.0.1',
        '255.255.255.255',
        '::',
        'ff02::1',
      ],
    ],
  ])('%s: %j', (reach, addresses) => {
    expect(addresses.map((address) => [address, reachOf(address)])).toEqual(
      addresses.map((address) => [address, reach]),
    );
  });
});

describe(mayName.name, () => {
  it('lets a server name what is as far away as itself, or farther', () => {
    const allowed = (server: Reach): Reach[] =>
      (['loopback', 'private', 'public', 'none'] as const).filter((named) =>
        mayName(server, named),
      );
    expect(allowed('public')).toEqual(['public']);
    expect(allowed('private')).toEqual(['private', 'public']);
    expect(allowed('loopback')).toEqual(['loopback', 'private', 'public']);
  });
});
