import { texts } from '../../texts/index.js';
import { PageHeader } from '../../ui/page-header.js';

export function ActivityPage() {
  return <PageHeader title={texts.activity.title} />;
}
