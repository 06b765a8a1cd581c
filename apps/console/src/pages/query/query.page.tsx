import { texts } from '../../texts/index.js';
import { PageHeader } from '../../ui/page-header.js';

export function QueryPage() {
  return <PageHeader title={texts.query.title} />;
}
