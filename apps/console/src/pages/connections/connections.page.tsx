import { useQuery } from '@tanstack/react-query';
import { connectionsQuery } from '../../api/queries.js';
import { texts } from '../../texts/index.js';
import { PageHeader } from '../../ui/page-header.js';
import { Tabs, useAddressState } from '../../ui/tabs.js';
import { ConnectionPanel } from './connection-panel.js';
import { OwnClients } from './own-clients.js';
import { OwnServers } from './own-servers.js';

const { connections: t } = texts;

/** For everyone who can log in: what one gave to servers, and to clients. */
export function ConnectionsPage() {
  const { data } = useQuery(connectionsQuery);
  const [tab] = useAddressState('tab', 'servers');
  const [openName, setOpenName] = useAddressState('server', '');
  const tabs = [
    {
      id: 'servers',
      label: t.servers,
      ...(data && { count: data.length }),
      content: <OwnServers openName={openName} onOpen={setOpenName} />,
    },
    { id: 'clients', label: t.clients, content: <OwnClients /> },
  ];
  return (
    <>
      <PageHeader title={t.title} />
      <div className="flex">
        <div className="min-w-0 grow">
          <Tabs label={t.tabs} tabs={tabs} />
        </div>
        {tab === 'servers' && openName !== '' && data && (
          <ConnectionPanel
            key={openName}
            connection={data.find(({ server_name: name }) => name === openName)}
            onClose={() => setOpenName('')}
          />
        )}
      </div>
    </>
  );
}
