import type { GrantView, TokenView } from '@app/api-client';

/** `token:ci`, `group:support`, `anyone`. */
export function subjectOf(grant: Pick<GrantView, 'subject_kind' | 'subject'>): string {
  return grant.subject_kind === 'anyone'
    ? 'anyone'
    : `${grant.subject_kind}:${grant.subject ?? ''}`;
}

/** Subjects that are known here, to choose from. */
export function subjectsOf(
  grants: readonly GrantView[],
  tokens: readonly TokenView[],
): readonly string[] {
  const known = new Set([...grants.map(subjectOf), ...tokens.map(({ name }) => `token:${name}`)]);
  known.add('anyone');
  return [...known].toSorted();
}
