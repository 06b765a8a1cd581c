import { texts } from '../../texts/index.js';
import { PageHeader } from '../../ui/page-header.js';

export function SkillsPage() {
  return <PageHeader title={texts.skills.title} />;
}
