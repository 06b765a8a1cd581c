import { texts } from '../../texts/index.js';
import { PageHeader } from '../../ui/page-header.js';

export function ViewsPage() {
  return <PageHeader title={texts.views.title} />;
}
