import { type Principal, subjectIn } from '@app/access';
import { Clock } from '@app/platform';
import { policyWithout } from '../../../../test/support/policy.js';
import type { Grant } from '../grants/grant.js';
import { PolicySnapshot } from '../rows/policy-snapshot.js';
import { DEFAULT_VIEW } from '../views/view.js';
import { Permissions } from './permissions.js';

const view = policyWithout().current.viewsById.get(DEFAULT_VIEW.id);
if (!view) throw new Error('no default view');
const support = { ...view, id: 'id-of-support', slug: 'support' };

function grant(subject: string, level: Grant['level'], more: Partial<Grant> = {}): Grant {
  const [kind = '', name = ''] = subject.split(':');
  const subjectKind = (['token', 'user', 'group', 'client'] as const).find((one) => one === kind);
  return {
    id: `${subject} ${level}`,
    subjectKind: subjectKind ?? 'anyone',
    subject: name,
    issuer: null,
    viewId: support.id,
    level,
    expiresAt: null,
    callsPerMinute: null,
    createdBy: 'ops',
    createdAt: new Date(0),
    ...more,
  };
}

class ClockAt extends Clock {
  ms = 1_000;
  override now(): Date {
    return new Date(this.ms);
  }
  override monotonic(): number {
    return this.ms;
  }
}

function world(...grants: Grant[]) {
  const clock = new ClockAt();
  const policy = {
    current: new PolicySnapshot({ version: 1n, views: [support], grants, overrides: [] }),
  };
  return { clock, policy, permissions: new Permissions(policy as never, clock) };
}

const alice: Principal = {
  name: 'jwt:alice',
  scopes: ['call'],
  subjects: ['user:alice', 'group:crew'],
};
const other: Principal = { name: 'ci', scopes: ['call'], subjects: ['token:ci'] };

describe(Permissions.name, () => {
  it('grants nothing to a principal whom no grant names', () => {
    const { permissions } = world(grant('user:bob', 'call'));
    expect(permissions.find(alice, 'support')).toBeUndefined();
    expect(() => permissions.onView(alice, 'support')).toThrow('There is no view named support');
    expect(() => permissions.onView(alice, 'missing')).toThrow('There is no view named missing');
  });

  it('takes the grant that reaches farthest, of the user, a group or anyone', () => {
    const { permissions } = world(
      grant('anyone', 'read'),
      grant('group:crew', 'call'),
      grant('user:alice', 'call_read_only'),
    );
    expect(permissions.onView(alice, 'support').level).toBe('call');
    expect(permissions.onView(other, 'support').level).toBe('read');
  });

  it('takes the user of one issuer not for that of another, and grants without an issuer for both', () => {
    const issuer = 'https://id.example.com/realms/a team';
    const { permissions } = world(
      grant('anyone', 'read'),
      grant('user:alice', 'call_read_only', { issuer }),
      grant('client:ci', 'call', { issuer }),
    );
    const levelOf = (subject: string | undefined, subjects = ['user:alice', 'client:ci']) =>
      permissions.onView({ name: 'jwt:alice', scopes: ['call'], subjects, subject }, 'support')
        .level;
    expect(levelOf(subjectIn('jwt', 'alice', issuer))).toBe('call');
    expect(levelOf(subjectIn('jwt', 'alice', issuer), ['user:alice'])).toBe('call_read_only');
    expect(levelOf(subjectIn('jwt-client', 'ci', issuer), ['client:ci'])).toBe('call');
    for (const other of [`${issuer}s`, issuer.slice(0, -1), 'https://id.example.com']) {
      expect(levelOf(subjectIn('jwt', 'alice', other))).toBe('read');
    }
    expect(levelOf(undefined)).toBe('read');
    const before = world(grant('user:alice', 'call'));
    const subject = subjectIn('jwt', 'alice', issuer);
    expect(before.permissions.onView({ ...alice, subject }, 'support').level).toBe('call');
  });

  it('does not take a token for a user of the same name', () => {
    const { permissions } = world(grant('token:alice', 'call'));
    expect(permissions.find(alice, 'support')).toBeUndefined();
  });

  it('ends a grant when it expires, and falls back to another', () => {
    const { permissions, clock } = world(
      grant('user:alice', 'call', { expiresAt: new Date(5_000) }),
      grant('anyone', 'read'),
    );
    expect(permissions.onView(alice, 'support').level).toBe('call');
    clock.ms = 5_000;
    expect(permissions.onView(alice, 'support').level).toBe('read');
  });

  it('follows a new policy at once', () => {
    const { permissions, policy } = world(grant('user:alice', 'call'));
    permissions.onView(alice, 'support');
    policy.current = new PolicySnapshot({
      version: 2n,
      views: [support],
      grants: [],
      overrides: [],
    });
    expect(permissions.find(alice, 'support')).toBeUndefined();
  });

  it('lets an admin use every view', () => {
    const { permissions } = world();
    const admin: Principal = { name: 'ops', scopes: ['admin'], subjects: ['token:ops'] };
    expect(permissions.onView(admin, 'support').level).toBe('call');
  });

  it('shows a token that was issued for a view that view at every address, and else nothing', () => {
    const { permissions } = world(grant('anyone', 'call'), grant('token:bot', 'call'));
    const pinned = { viewId: support.id, level: 'read' };
    const bot: Principal = { name: 'bot', scopes: ['admin'], subjects: ['token:bot'], pinned };
    expect(permissions.onDefault(bot)).toMatchObject({ level: 'read', view: { slug: 'support' } });
    // One decision for all addresses, which a client can invent.
    expect(permissions.find(bot, 'a')).toBe(permissions.find(bot, 'b'));
    const gone = { ...bot, pinned: { ...pinned, viewId: 'deleted' } };
    expect(permissions.find(gone, 'support')).toBeUndefined();
  });

  it('counts the calls of each principal by a grant, a minute at a time', () => {
    const { permissions, clock } = world(grant('anyone', 'call', { callsPerMinute: 2 }));
    const access = permissions.onView(alice, 'support');
    permissions.countCall(access, alice);
    permissions.countCall(access, alice);
    expect(() => permissions.countCall(access, alice)).toThrow('Too many requests');
    permissions.countCall(access, other);
    permissions.countCall(access, { ...alice, subject: 'jwt:https://another.example.com alice' });
    clock.ms += 60_000;
    permissions.countCall(access, alice);
  });
});
