import type { GrantView, ViewView } from '@app/api-client';
import { useQuery } from '@tanstack/react-query';
import { texts } from '../../texts/index.js';
import { count } from '../../ui/format.js';
import { previewQuery } from './view-queries.js';

const { views: t } = texts;
const NAMED = 2;

/** How many tools a view offers now. */
export function OfferedCount({ view }: { readonly view: ViewView }) {
  const { data } = useQuery(previewQuery({ view: view.slug, rules: view.rules, limit: 1 }));
  return <>{data ? count(data.offered + data.held) : '–'}</>;
}

/** `oncall-bot, group sre and 3 more`. */
export function usersOf(grants: readonly GrantView[]): string {
  if (grants.length === 0) return t.onlyAdmins;
  if (grants.some(({ subject_kind: kind }) => kind === 'anyone')) return t.anyone;
  const names = grants
    .slice(0, NAMED)
    .map(({ subject, subject_kind: kind }) =>
      kind === 'token' ? subject : `${kind} ${subject ?? ''}`,
    );
  const others = grants.length - names.length;
  return `${names.join(', ')}${others > 0 ? ` ${t.more(others)}` : ''}`;
}
