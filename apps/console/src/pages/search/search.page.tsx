import { texts } from '../../texts/index.js';
import { PageHeader } from '../../ui/page-header.js';

export function SearchPage() {
  return <PageHeader title={texts.search.title} />;
}
