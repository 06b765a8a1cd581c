import { DEFAULT_VIEW, EVERYTHING, type Policy } from '@app/policy';
import { type PolicyRows, PolicySnapshot } from '../../libs/policy/src/rows/policy-snapshot.js';

/** As in a new deployment: the default view offers everything to anyone. */
export function policyWithout(): Pick<Policy, 'current' | 'offerOf'> {
  const at = new Date(0);
  const current = new PolicySnapshot({
    version: 1n,
    views: [{ ...EVERYTHING.view, ...DEFAULT_VIEW }],
    grants: [
      {
        id: '00000000-0000-4000-8000-000000000002',
        subjectKind: 'anyone',
        subject: '',
        issuer: null,
        viewId: DEFAULT_VIEW.id,
        level: 'call',
        expiresAt: null,
        callsPerMinute: null,
        createdBy: 'system',
        createdAt: at,
      },
    ],
    overrides: [],
  });
  const offerOf: Policy['offerOf'] = (viewId, isReadOnly) =>
    current.offerOf(viewId, isReadOnly) ?? EVERYTHING;
  return { current, offerOf };
}

/** A policy with these rows, which keeps the offers of `before` that stay the same. */
export function policyWith(
  rows: Partial<PolicyRows>,
  before?: Policy['current'],
): Policy['current'] {
  const none = { version: 1n, views: [], grants: [], overrides: [] };
  return new PolicySnapshot({ ...none, ...rows }, before);
}
