import { texts } from '../../texts/index.js';
import { PageHeader } from '../../ui/page-header.js';

export function ConnectPage() {
  return <PageHeader title={texts.connect.title} />;
}
