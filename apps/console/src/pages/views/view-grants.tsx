import type { ViewView } from '@app/api-client';
import { useQuery } from '@tanstack/react-query';
import { KeyRound, Plus, User, Users } from 'lucide-react';
import { grantsQuery, tokensQuery } from '../../api/queries.js';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { Pane } from '../../ui/pane.js';
import { GrantDrawer } from '../../ui/policy/grant-drawer.js';
import { WithdrawButton } from '../../ui/policy/withdraw-button.js';
import { useAddressState } from '../../ui/tabs.js';

const { policy: p, views: t } = texts;

const icons = { token: KeyRound, user: User, group: Users, client: KeyRound, anyone: Users };

/** Who may use the view: grants, and the tokens that were issued for it. */
export function ViewGrants({ view }: { readonly view: ViewView }) {
  const mayChange = useMay('admin');
  const [giving, setGiving] = useAddressState('give', '');
  const { data: all = [] } = useQuery(grantsQuery);
  const { data: tokens = [] } = useQuery({ ...tokensQuery, enabled: mayChange });
  const grants = all.filter((grant) => grant.view === view.slug);
  const pinned = tokens.filter((token) => token.view?.view_id === view.id);
  return (
    <Pane title={t.grants} aside={grants.length + pinned.length} className="rail:border-b-0">
      {grants.length + pinned.length === 0 && (
        <p className="text-text-2 px-5 py-1 text-small">{t.grantsEmpty}</p>
      )}
      <ul className="pb-1">
        {grants.map((grant) => {
          const Icon = icons[grant.subject_kind];
          return (
            <li key={grant.id} className="flex min-h-8 items-center gap-2 px-5">
              <Icon size={14} aria-hidden className="text-text-3 shrink-0" />
              <span className="min-w-0 grow text-small [overflow-wrap:anywhere]">
                {grant.subject_kind !== 'token' && `${p.subjectKinds[grant.subject_kind]} `}
                <span className="font-mono">{grant.subject}</span>
              </span>
              <span
                className="text-text-2 text-small whitespace-nowrap"
                title={p.levels[grant.level]}
              >
                {p.levelWords[grant.level]}
              </span>
              {mayChange && <WithdrawButton grant={grant} />}
            </li>
          );
        })}
        {pinned.map(({ name, view: pin }) => (
          <li key={name} className="flex min-h-8 items-center gap-2 px-5">
            <KeyRound size={14} aria-hidden className="text-text-3 shrink-0" />
            <span className="min-w-0 grow font-mono text-small [overflow-wrap:anywhere]">
              {name}
            </span>
            <span className="text-text-2 text-small">{pin && p.levelWords[pin.level]}</span>
          </li>
        ))}
      </ul>
      {mayChange && (
        <div className="px-4 pb-3">
          <Button kind="ghost" icon={Plus} small onClick={() => setGiving('access')}>
            {p.give}
          </Button>
        </div>
      )}
      <GrantDrawer
        isOpen={giving !== '' && mayChange}
        onClose={() => setGiving('')}
        view={view.slug}
      />
    </Pane>
  );
}
