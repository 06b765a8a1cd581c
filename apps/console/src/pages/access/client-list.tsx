import type { OAuthGrantView } from '@app/api-client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { AppWindow, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { toast } from 'sonner';
import { clientGrantsQuery } from '../../api/queries.js';
import { ask } from '../../api/service.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { type Column, DataTable } from '../../ui/data-table.js';
import { ConfirmDialog } from '../../ui/dialog.js';
import { Empty, ErrorPane, SkeletonRows } from '../../ui/pane.js';
import { Expiry } from './expiry.js';

const { access: t, policy: p } = texts;

interface ClientListProps {
  readonly lead?: string;
  /** Said when there are none. */
  readonly empty?: string;
  /** Whose clients; by default everyone's that the service tells of. */
  readonly person?: string;
}

/** OAuth clients, and what they were given. */
export function ClientList({ lead, empty, person }: ClientListProps) {
  const grants = useQuery(clientGrantsQuery);
  const shown = grants.data?.filter((grant) => person === undefined || grant.person === person);
  return (
    <>
      <p className="text-text-2 px-5 py-3">{lead ?? t.clientsLead}</p>
      {grants.isError && (
        <ErrorPane
          title={texts.errors.couldNotBeRead(t.clients)}
          error={grants.error}
          onRetry={() => void grants.refetch()}
        />
      )}
      {grants.isPending && <SkeletonRows />}
      {shown && shown.length > 0 && (
        <DataTable
          label={t.clients}
          columns={columns}
          groups={[{ id: 'all', label: '', rows: shown }]}
          idOf={({ id }) => id}
          nameOf={nameOf}
        />
      )}
      {shown?.length === 0 && (
        <Empty icon={AppWindow} title={empty ?? t.emptyClients}>
          {t.emptyClientsHint}
        </Empty>
      )}
    </>
  );
}

function nameOf({ client_domain: domain, client_name: name }: OAuthGrantView): string {
  return domain ?? t.unverified(name ?? '?');
}

const columns: readonly Column<OAuthGrantView>[] = [
  {
    id: 'client',
    head: t.client,
    width: 'minmax(160px, 2fr)',
    cell: (grant) => <span className="font-medium">{nameOf(grant)}</span>,
  },
  { id: 'person', head: t.actsFor, width: 'minmax(96px, 1fr)', cell: ({ person }) => person },
  {
    id: 'scopes',
    head: t.scopes,
    width: 'minmax(112px, 1fr)',
    narrow: 'second',
    cell: ({ scopes }) => scopes.join(' '),
  },
  {
    id: 'resource',
    head: t.at,
    width: 'minmax(112px, 1fr)',
    narrow: 'second',
    cell: ({ resource }) => <span className="font-mono text-small">{resource}</span>,
  },
  {
    id: 'until',
    head: t.until,
    width: '112px',
    cell: ({ expires_at: at }) => <Expiry at={at} />,
  },
  {
    id: 'actions',
    head: <span className="sr-only">{p.withdraw}</span>,
    width: '32px',
    align: 'end',
    narrow: 'end',
    cell: (grant) => <WithdrawClient grant={grant} />,
  },
];

function WithdrawClient({ grant }: { readonly grant: OAuthGrantView }) {
  const [asks, setAsks] = useState(false);
  const client = useQueryClient();
  const name = nameOf(grant);
  const withdraw = useMutation({
    mutationFn: () => ask((api) => api.withdrawOAuthGrant({ path: { id: grant.id } })),
    onSuccess: () => toast.success(t.clientWithdrawn(name)),
    onSettled: () => client.invalidateQueries({ queryKey: clientGrantsQuery.queryKey }),
  });
  return (
    <>
      <Button
        kind="ghost"
        small
        icon={Trash2}
        aria-label={`${p.withdraw}: ${name}`}
        onClick={() => setAsks(true)}
      />
      {asks && (
        <ConfirmDialog
          isOpen
          onClose={() => setAsks(false)}
          title={t.withdrawClientTitle(name, grant.person)}
          confirmLabel={p.withdraw}
          onConfirm={() => withdraw.mutate()}
        >
          {t.withdrawClientEffect}
        </ConfirmDialog>
      )}
    </>
  );
}
