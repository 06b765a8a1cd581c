import { texts } from '../../texts/index.js';
import { PageHeader } from '../../ui/page-header.js';

export function SessionsPage() {
  return <PageHeader title={texts.sessions.title} />;
}
