import { useQuery } from '@tanstack/react-query';
import { KeyRound, Plus } from 'lucide-react';
import { grantsQuery, tokensQuery } from '../../api/queries.js';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { ForScope } from '../../ui/for-scope.js';
import { PageHeader } from '../../ui/page-header.js';
import { ExplainPane } from '../../ui/policy/explain-pane.js';
import { GrantDrawer } from '../../ui/policy/grant-drawer.js';
import { Tabs, useAddressState } from '../../ui/tabs.js';
import { ClientList } from './client-list.js';
import { GrantList } from './grant-list.js';
import { IssueToken } from './issue-token.js';
import { TokenList } from './token-list.js';

const { access: t, policy: p } = texts;

export function AccessPage() {
  return (
    <ForScope scope="operate" title={t.title}>
      <Access />
    </ForScope>
  );
}

function Access() {
  const mayChange = useMay('admin');
  const [tab] = useAddressState('tab', 'tokens');
  const [adding, setAdding] = useAddressState('add', '');
  const { data: tokens } = useQuery({ ...tokensQuery, enabled: mayChange });
  const { data: grants } = useQuery(grantsQuery);
  const isOfGrants = tab === 'grants';
  const canAdd = mayChange && tab !== 'clients';
  const tabs = [
    {
      id: 'tokens',
      label: t.tokens,
      ...(tokens && { count: tokens.length }),
      content: <TokenList onIssue={() => setAdding('token')} />,
    },
    {
      id: 'grants',
      label: t.grants,
      ...(grants && { count: grants.length }),
      content: <GrantList />,
    },
    { id: 'clients', label: t.clients, content: <ClientList /> },
    {
      id: 'explain',
      label: t.explain,
      content: (
        <>
          <p className="text-text-2 px-5 pt-3">{t.explainLead}</p>
          <ExplainPane />
        </>
      ),
    },
  ];
  return (
    <>
      <PageHeader title={t.title}>
        {canAdd && (
          <Button
            kind="primary"
            icon={isOfGrants ? Plus : KeyRound}
            onClick={() => setAdding(isOfGrants ? 'grant' : 'token')}
          >
            <span className="sr-only tab:not-sr-only">{isOfGrants ? p.give : t.issue}</span>
          </Button>
        )}
      </PageHeader>
      <Tabs label={t.tabs} tabs={tabs} />
      {mayChange && (
        <>
          <GrantDrawer isOpen={adding === 'grant'} onClose={() => setAdding('')} />
          <IssueToken isOpen={adding === 'token'} onClose={() => setAdding('')} />
        </>
      )}
    </>
  );
}
