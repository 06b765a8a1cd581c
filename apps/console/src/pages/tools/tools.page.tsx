import { texts } from '../../texts/index.js';
import { PageHeader } from '../../ui/page-header.js';

export function ToolsPage() {
  return <PageHeader title={texts.tools.title} />;
}
