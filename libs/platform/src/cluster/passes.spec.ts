import { createHmac, randomUUID } from 'node:crypto';
import { testEnv } from '../../../../test/support/env.js';
import { ClusterKeys } from './cluster-keys.js';
import {
  PassMisdirected,
  PassRefused,
  Passes,
  type PassedRequest,
  ReplayWindow,
} from './passes.js';
import type { Peers } from './peers.js';
import { replicaUrl } from './replica-url.js';

const DATABASE_URL = 'postgres://localhost/unused';

function replica(settings: Record<string, string> = { MCP_CREDENTIAL_KEY: 'a key of this test' }) {
  const self = randomUUID();
  const keys = new ClusterKeys(testEnv('unused', { DATABASE_URL, ...settings }));
  return {
    self,
    passes: new Passes(keys, { self, isClustered: true } as Peers),
    /** As another version may write a pass. */
    sign(pass: object): string {
      const [key] = keys.derive('requests between replicas');
      const text = Buffer.from(JSON.stringify(pass)).toString('base64url');
      return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
    },
  };
}

const request: PassedRequest = {
  method: 'POST',
  path: '/mcp',
  principal: { name: 'alice', scopes: ['call'], subjects: ['token:alice'] },
  ip: '10.1.2.3',
  requestId: 'r1',
};

describe(Passes, () => {
  it('prove who sent a request to the replica that it is for', () => {
    const [one, other] = [replica(), replica()];
    const pass = one.passes.issue(other.self, request);
    expect(other.passes.redeem(pass, 'POST', '/mcp')).toEqual(request);
  });

  it('are valid once', () => {
    const [one, other] = [replica(), replica()];
    const passes = [1, 2, 3].map(() => one.passes.issue(other.self, request));
    for (const pass of passes.toReversed()) other.passes.redeem(pass, 'POST', '/mcp');
    for (const pass of passes) {
      expect(() => other.passes.redeem(pass, 'POST', '/mcp')).toThrow(PassRefused);
    }
  });

  it.each([
    ['another path', (pass: string, to: Passes) => to.redeem(pass, 'POST', '/mcp/search')],
    ['another method', (pass: string, to: Passes) => to.redeem(pass, 'DELETE', '/mcp')],
    [
      'another sender',
      (pass: string, to: Passes) => {
        const [text = '', mac = ''] = pass.split('.');
        const forged = Buffer.from(text, 'base64url').toString().replace('alice', 'admin');
        return to.redeem(`${Buffer.from(forged).toString('base64url')}.${mac}`, 'POST', '/mcp');
      },
    ],
  ])('are refused for %s', (_, redeem) => {
    const [one, other] = [replica(), replica()];
    const pass = one.passes.issue(other.self, request);
    expect(() => redeem(pass, other.passes)).toThrow(PassRefused);
  });

  it('are told apart from wrong ones when a new process listens at the same address', () => {
    const [one, other, restarted] = [replica(), replica(), replica()];
    const pass = one.passes.issue(other.self, request);
    expect(() => restarted.passes.redeem(pass, 'POST', '/mcp')).toThrow(PassMisdirected);
  });

  it.each(['', '.', 'e30.', 'e30.e30', 'x'.repeat(10_000)])('refuse %j', (pass) => {
    expect(() => replica().passes.redeem(pass, 'POST', '/mcp')).toThrow(PassRefused);
  });

  it('of an earlier version, which says less of the caller, are accepted', () => {
    const [one, other] = [replica(), replica()];
    const { principal, ...rest } = request;
    const { name, scopes, subjects } = principal;
    const earlier = { ...rest, principal: { name, scopes, subjects } };
    const pass = one.sign({ from: one.self, to: other.self, n: 1, ...earlier });
    expect(other.passes.redeem(pass, 'POST', '/mcp')).toEqual(earlier);
  });

  it('of a later version are accepted without the keys and scopes that are not known here', () => {
    const [one, other] = [replica(), replica()];
    const { principal } = request;
    const pinned = { viewId: 'a view', level: 'read' };
    const later = {
      ...request,
      hops: 1,
      principal: {
        ...principal,
        scopes: [...principal.scopes, 'dream'],
        tenant: 'a tenant',
        pinned: { ...pinned, since: 1 },
      },
    };
    const pass = one.sign({ from: one.self, to: other.self, n: 1, ...later });
    const known = { ...request, principal: { ...principal, pinned } };
    expect(other.passes.redeem(pass, 'POST', '/mcp')).toEqual(known);
  });

  it('are refused with another credential key, and accepted while keys are rotated', () => {
    const old = replica({ MCP_CREDENTIAL_KEY: 'the key before this' });
    const rotating = replica({
      MCP_CREDENTIAL_KEY: 'a key of this test',
      MCP_CREDENTIAL_KEY_PREVIOUS: 'the key before this',
    });
    const rotated = replica();
    for (const [from, to] of [
      [old, rotating],
      [rotating, old],
      [rotating, rotated],
      [rotated, rotating],
    ] as const) {
      const pass = from.passes.issue(to.self, request);
      expect(to.passes.redeem(pass, 'POST', '/mcp')).toEqual(request);
    }
    const pass = old.passes.issue(rotated.self, request);
    expect(() => rotated.passes.redeem(pass, 'POST', '/mcp')).toThrow(PassRefused);
  });
});

describe(ReplayWindow, () => {
  it('accepts every count once, in any order within its size', () => {
    const window = new ReplayWindow();
    const counts = [5, 1, 3, 70_000, 69_999, 4_465, 2, 70_001, 200_000];
    expect(counts.map((n) => window.use(n))).toEqual([
      true,
      true,
      true,
      true,
      true,
      true,
      false,
      true,
      true,
    ]);
    expect(counts.map((n) => window.use(n))).toEqual(counts.map(() => false));
  });
});

describe(replicaUrl, () => {
  const interfaces = {
    lo: [{ internal: true, address: '127.0.0.1', family: 'IPv4' }],
    eth0: [
      { internal: false, address: 'fe80::1', family: 'IPv6' },
      { internal: false, address: 'fd00::7', family: 'IPv6' },
      { internal: false, address: '10.0.0.7', family: 'IPv4' },
    ],
  } as unknown as Parameters<typeof replicaUrl>[1];

  it.each([
    ['127.0.0.1', 'http://127.0.0.1:8081'],
    ['0.0.0.0', 'http://10.0.0.7:8081'],
    ['::', 'http://10.0.0.7:8081'],
    ['fd00::9', 'http://[fd00::9]:8081'],
  ])('of a process that listens on %s is %s', (address, url) => {
    expect(replicaUrl({ address, port: 8081 }, interfaces)).toBe(url);
  });
});
