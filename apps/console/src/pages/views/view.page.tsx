import { texts } from '../../texts/index.js';
import { PageHeader } from '../../ui/page-header.js';

export function ViewPage() {
  return <PageHeader title={texts.views.title} />;
}
