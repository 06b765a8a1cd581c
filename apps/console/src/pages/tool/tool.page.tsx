import { texts } from '../../texts/index.js';
import { PageHeader } from '../../ui/page-header.js';

export function ToolPage() {
  return <PageHeader title={texts.tool.title} />;
}
