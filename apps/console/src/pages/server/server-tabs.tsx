import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { serverQuery } from '../../api/queries.js';
import type { ServerView } from '@app/api-client';
import { draftOf } from '../../servers/form/server-draft.js';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { StateMark } from '../../ui/state-mark.js';
import { type Tab, Tabs } from '../../ui/tabs.js';
import { HistoryTab } from './history-tab.js';
import { QueryTab } from './query-tab.js';
import { SettingsTab } from './settings-tab.js';
import { ToolsTab } from './tools-tab.js';

const t = texts.server.tabs;

export function ServerTabs({ server }: { readonly server: ServerView }) {
  const { data: detail } = useQuery(serverQuery(server.id));
  const mayDefine = useMay('admin');
  const withheld = detail ? detail.withheld.tools + detail.withheld.prompts : 0;
  const tabs: Tab[] = [
    {
      id: 'tools',
      label: t.tools,
      count: server.tool_count,
      content: <ToolsTab server={server} />,
    },
    ...(mayDefine
      ? [
          {
            id: 'settings',
            label: t.settings,
            content: detail && (
              <SettingsTab key={JSON.stringify(draftOf(detail))} detail={detail} />
            ),
          },
        ]
      : []),
    { id: 'query', label: t.query, content: <QueryTab server={server} /> },
    { id: 'history', label: t.history, content: <HistoryTab server={server} /> },
  ];
  return (
    <Tabs
      label={t.label}
      tabs={tabs}
      aside={
        withheld > 0 && (
          <>
            <StateMark state="withheld">{t.withheld(withheld)}</StateMark>
            <Link to="/approvals" search={{ server: server.name }}>
              {t.review}
            </Link>
          </>
        )
      }
    />
  );
}
