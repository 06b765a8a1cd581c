import type { TokenView, ViewView } from '@app/api-client';
import { Link } from '@tanstack/react-router';
import { texts } from '../../texts/index.js';
import { Badge, type Tint } from '../../ui/badge.js';
import type { Column } from '../../ui/data-table.js';
import { exactTime } from '../../ui/format.js';
import { TimeAgo } from '../../ui/time.js';
import { Expiry } from './expiry.js';
import { TokenActions } from './token-actions.js';

const { access: t, policy: p } = texts;

const tints: Readonly<Record<TokenView['role'], Tint>> = {
  viewer: 'idle',
  caller: 'idle',
  operator: 'accent',
  admin: 'warn',
};

export function tokenColumns(views: readonly ViewView[]): readonly Column<TokenView>[] {
  return [
    {
      id: 'name',
      head: t.token,
      width: 'minmax(140px, 3fr)',
      cell: ({ name }) => <span className="font-mono text-small font-medium">{name}</span>,
    },
    {
      id: 'role',
      head: t.role,
      width: '96px',
      narrow: 'second',
      cell: ({ role, scopes }) => (
        <span title={scopes.join(', ')}>
          <Badge tint={tints[role]}>{t.roles[role]}</Badge>
        </span>
      ),
    },
    {
      id: 'view',
      head: t.view,
      width: 'minmax(120px, 2fr)',
      narrow: 'second',
      cell: (token) => <TokenReach token={token} views={views} />,
    },
    {
      id: 'used',
      head: t.lastUsed,
      width: '112px',
      cell: ({ id, last_used_at: at }) =>
        id === null ? (
          <span className="text-text-3">{t.lastUsedUnknown}</span>
        ) : (
          <TimeAgo at={at} />
        ),
    },
    {
      id: 'expires',
      head: t.expires,
      width: '112px',
      cell: ({ id, expires_at: at }) =>
        id === null ? <span className="text-text-3">{t.noEnd}</span> : <Expiry at={at} />,
    },
    {
      id: 'created',
      head: t.created,
      width: 'minmax(152px, 1fr)',
      cell: ({ id, created_at: at, created_by: by }) =>
        id === null ? (
          <span className="text-text-3" title={t.configuredHint}>
            {t.configured}
          </span>
        ) : (
          <span title={by === null ? undefined : t.by(by)}>
            <TimeAgo at={at} /> <span className="text-text-3">{by !== null && t.by(by)}</span>
          </span>
        ),
    },
    {
      id: 'overlap',
      head: <span className="sr-only">{t.overlapHead}</span>,
      width: '132px',
      cell: ({ previous_until: until }) =>
        until !== null && (
          <span title={exactTime(until)}>
            <Badge tint="warn">{t.overlap}</Badge>
          </span>
        ),
    },
    {
      id: 'actions',
      head: <span className="sr-only">{texts.views.moreActions}</span>,
      width: '32px',
      align: 'end',
      narrow: 'end',
      cell: (token) => token.id !== null && <TokenActions token={token} id={token.id} />,
    },
  ];
}

interface TokenReachProps {
  readonly token: TokenView;
  readonly views: readonly ViewView[];
}

function TokenReach({ token: { view: pin }, views }: TokenReachProps) {
  if (pin === null) return <span className="text-text-2">{t.grantedViews}</span>;
  const slug = views.find(({ id }) => id === pin.view_id)?.slug;
  if (slug === undefined) return <span className="text-warn">{t.lostView}</span>;
  return (
    <>
      <Link to="/views/$slug" params={{ slug }} className="font-mono text-small">
        {slug}
      </Link>{' '}
      <span className="text-text-2 text-small">{p.levelWords[pin.level]}</span>
    </>
  );
}
