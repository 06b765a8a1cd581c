import { texts } from '../../texts/index.js';
import { PageHeader } from '../../ui/page-header.js';

export function ServerPage() {
  return <PageHeader title={texts.server.title} />;
}
