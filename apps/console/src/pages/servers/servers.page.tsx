import { texts } from '../../texts/index.js';
import { PageHeader } from '../../ui/page-header.js';

export function ServersPage() {
  return <PageHeader title={texts.servers.title} />;
}
