import { texts } from '../../texts/index.js';
import { PageHeader } from '../../ui/page-header.js';

export function ApprovalsPage() {
  return <PageHeader title={texts.approvals.title} />;
}
