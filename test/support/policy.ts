import { DEFAULT_VIEW, EVERYTHING, type Policy } from '@app/policy';
import { PolicySnapshot } from '../../libs/policy/src/rows/policy-snapshot.js';

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
