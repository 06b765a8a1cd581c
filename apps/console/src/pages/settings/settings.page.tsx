import { texts } from '../../texts/index.js';
import { PageHeader } from '../../ui/page-header.js';
import { Tabs } from '../../ui/tabs.js';
import { HealthPane } from './health-pane.js';
import { SettingList } from './setting-list.js';
import { WebhookList } from './webhook-list.js';

const { settings: t } = texts;

export function SettingsPage() {
  return (
    <>
      <PageHeader title={t.title} />
      <Tabs
        label={t.tabs}
        tabs={[
          { id: 'health', label: t.health, content: <HealthPane /> },
          { id: 'settings', label: t.inEffect, content: <SettingList /> },
          { id: 'webhooks', label: t.webhooks, content: <WebhookList /> },
        ]}
      />
    </>
  );
}
