import { texts } from '../../texts/index.js';
import { PageHeader } from '../../ui/page-header.js';

export function SettingsPage() {
  return <PageHeader title={texts.settings.title} />;
}
