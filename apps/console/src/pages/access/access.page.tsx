import { texts } from '../../texts/index.js';
import { PageHeader } from '../../ui/page-header.js';

export function AccessPage() {
  return <PageHeader title={texts.access.title} />;
}
