import { texts } from '../../texts/index.js';
import { PageHeader } from '../../ui/page-header.js';

export function OverviewPage() {
  return <PageHeader title={texts.overview.title} />;
}
