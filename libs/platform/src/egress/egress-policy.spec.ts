import { readFileSync } from 'node:fs';
import { z } from 'zod';
import {
  addressRefusal,
  type EgressPolicy,
  hostProblem,
  LOCAL_EGRESS,
  parseAllowance,
} from './egress-policy.js';
import { urlProblem } from './url-problem.js';

const verdict = z.enum(['allowed', 'refused']);
/** Spellings of the host of a URL, and the result with MCP_AGGREGATOR_EGRESS=local and =public. */
const targets = z
  .array(z.tuple([z.string(), verdict, verdict, z.string()]))
  .parse(JSON.parse(readFileSync('test/fixtures/egress-targets.json', 'utf8')));

function policy(mode: EgressPolicy['mode'], ...entries: string[]): EgressPolicy {
  const allow = parseAllowance(entries);
  if (!allow) throw new Error(`not an allowance: ${entries.join()}`);
  return { mode, allow };
}

function verdictOf(host: string, egress: EgressPolicy): string {
  const problem = urlProblem(`http://${host}:8080/mcp`, { allowInsecureHttp: true, egress });
  return problem === undefined ? 'allowed' : 'refused';
}

describe(hostProblem.name, () => {
  it('has at least 400 targets', () => {
    expect(new Set(targets.map(([host]) => host)).size).toBeGreaterThanOrEqual(400);
  });

  it.each(targets)('%s: %s, in public mode %s (%s)', (host, local, publicOnly) => {
    expect({
      local: verdictOf(host, policy('local')),
      public: verdictOf(host, policy('public')),
    }).toEqual({ local, public: publicOnly });
  });

  it.each(targets.filter(([, local]) => local === 'refused'))(
    'names the setting that allows %s',
    (host) => {
      const { hostname } = new URL(`http://${host}/`);
      expect(hostProblem(hostname, LOCAL_EGRESS)).toContain('MCP_AGGREGATOR_EGRESS_ALLOW');
    },
  );

  it('names the kind of address and the setting that refuses it', () => {
    expect(hostProblem('169.254.169.254', LOCAL_EGRESS)).toBe(
      '169.254.169.254 is the metadata service of a cloud: refused unless MCP_AGGREGATOR_EGRESS_ALLOW names it',
    );
    expect(hostProblem('[fe80::1]', LOCAL_EGRESS)).toContain('fe80::1 is a link-local address');
    expect(hostProblem('10.0.0.1', policy('public'))).toBe(
      '10.0.0.1 is a private address: refused by MCP_AGGREGATOR_EGRESS=public unless MCP_AGGREGATOR_EGRESS_ALLOW names it',
    );
  });

  it.each([
    ['169.254.1.1', '169.254.0.0/16'],
    ['169.254.169.254', '169.254.169.254'],
    ['[fe80::1]', 'fe80::/10'],
    ['[fd00:ec2::254]', '[fd00:ec2::254]'],
    ['metadata.google.internal.', 'Metadata.Google.Internal'],
    ['localhost', 'localhost'],
    ['10.0.0.7', '10.0.0.0/8'],
    ['2130706433', '127.0.0.0/8'],
  ])('allows %s that the setting names as %s, also in public mode', (host, entry) => {
    expect(verdictOf(host, policy('public'))).toBe('refused');
    expect(verdictOf(host, policy('public', entry))).toBe('allowed');
    expect(verdictOf(host, policy('local', 'example.com', entry))).toBe('allowed');
  });

  it.each([
    ['169.254.1.1', '169.254.2.0/24'],
    ['10.0.0.1', '::/0'],
    ['[fd00::1]', '0.0.0.0/0'],
    ['[::ffff:10.0.0.1]', '10.0.0.0/8'],
  ])('does not allow %s because of %s', (host, entry) => {
    expect(verdictOf(host, policy('public', entry))).toBe('refused');
  });
});

describe(addressRefusal.name, () => {
  it.each([
    ['64:ff9b::808:808', 'local', undefined],
    ['64:ff9b::808:808', 'public', undefined],
    ['64:ff9b::a00:1', 'local', undefined],
    ['64:ff9b::a00:1', 'public', 'a NAT64 address of 10.0.0.1, a private address'],
    ['64:ff9b::a9fe:a9fe', 'local', 'a NAT64 address of 169.254.169.254, the metadata service'],
    ['64:ff9b::6464:64c8', 'public', 'the metadata service of a cloud'],
  ] as const)(
    'checks the embedded address of %s where NAT64 is allowed (%s)',
    (address, mode, reason) => {
      const refusal = addressRefusal(address, policy(mode, '64:ff9b::/96'));
      expect(refusal).toEqual(reason && expect.stringContaining(reason));
    },
  );

  it.each(['::ffff:0:0/96', '::/96', '2002::/16', '2001::/32', '::/0'])(
    'keeps the metadata service blocked behind %s',
    (range) => {
      const forms = ['::ffff:a9fe:a9fe', '::a9fe:a9fe', '2002:a9fe:a9fe::', '2001::5601:5601'];
      for (const form of forms) {
        expect(addressRefusal(form, policy('local', range))).toContain('refused');
      }
    },
  );

  it('opens a form and what it carries when both are named', () => {
    const both = policy('public', '::ffff:0:0/96', '10.0.0.0/8');
    expect(addressRefusal('::ffff:10.0.0.1', both)).toBeUndefined();
  });

  it('ignores a zone id, and refuses anything but an address', () => {
    expect(addressRefusal('fe80::1%eth0', LOCAL_EGRESS)).toContain('link-local');
    expect(addressRefusal('nowhere', LOCAL_EGRESS)).toContain('refused');
  });
});

describe(parseAllowance.name, () => {
  it.each([
    '10.0.0.256',
    '10.0.0.0/33',
    'fe80::/129',
    'a b',
    'http://a',
    'a/8',
    '10.0.0.0/',
    'a:80',
  ])('takes %s for a typing error', (entry) => {
    expect(parseAllowance(['example.com', entry])).toBeUndefined();
  });
});
