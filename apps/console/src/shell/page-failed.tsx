import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import { Compass } from 'lucide-react';
import { reasonOf } from '../api/refused.js';
import { texts } from '../texts/index.js';
import { Button } from '../ui/button.js';
import { Empty } from '../ui/pane.js';
import { CodeBlock } from '../ui/code-block.js';

/** A defect of a page: it replaces that page only. */
export function PageFailed({ error }: ErrorComponentProps) {
  return (
    <div role="alert" className="m-5 max-w-160">
      <h2 className="font-semibold">{texts.errors.page}</h2>
      <p className="text-text-2 mb-3">{texts.errors.pageHint}</p>
      <CodeBlock code={reasonOf(error)} wrap />
      <Button className="mt-3" onClick={() => window.location.reload()}>
        {texts.errors.reload}
      </Button>
    </div>
  );
}

export function PageNotFound() {
  return (
    <Empty icon={Compass} title={texts.errors.notFound}>
      <Link to="/">{texts.errors.toOverview}</Link>
    </Empty>
  );
}
