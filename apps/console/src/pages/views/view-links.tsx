import type { ViewView } from '@app/api-client';
import { Link } from '@tanstack/react-router';
import { texts } from '../../texts/index.js';
import { count } from '../../ui/format.js';
import { OfferedCount } from './view-summary.js';

const { views: t } = texts;

interface ViewLinksProps {
  readonly views: readonly ViewView[];
  readonly current: string;
}

/** The other views, beside the one that is shown; a narrow screen goes back to their list instead. */
export function ViewLinks({ views, current }: ViewLinksProps) {
  return (
    <nav aria-label={t.title} className="hidden rail:block">
      <p className="border-line flex h-(--pane-head) items-center gap-2 border-b px-5 font-semibold">
        <Link to="/views" className="text-text">
          {t.title}
        </Link>
        <span className="text-text-3 text-small font-normal">{count(views.length)}</span>
      </p>
      {views.map((view) => (
        <Link
          key={view.id}
          to="/views/$slug"
          params={{ slug: view.slug }}
          aria-current={view.slug === current ? 'page' : undefined}
          className="border-line hover:bg-hover aria-[current]:bg-accent-weak text-text block border-b px-5 py-1.5 aria-[current]:shadow-[inset_2px_0_0_var(--accent)]"
        >
          <span className="flex items-baseline justify-between gap-2">
            <span className="truncate font-mono text-small font-medium">{view.slug}</span>
            <span className="text-text-2 text-small">
              <OfferedCount view={view} />
            </span>
          </span>
          <span className="text-text-2 block truncate text-small">
            {view.title ?? t.rulesOf(view.rules.length)}
          </span>
        </Link>
      ))}
    </nav>
  );
}
