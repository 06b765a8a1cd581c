import { CircleX, EyeOff, type LucideIcon, RefreshCw } from 'lucide-react';
import type { ReactNode } from 'react';
import { reasonOf } from '../api/refused.js';
import { texts } from '../texts/index.js';
import { Button } from './button.js';
import { classNames } from './class-names.js';

interface PaneProps {
  readonly title: ReactNode;
  /** Beside the title: a count, a window of time. */
  readonly aside?: ReactNode;
  readonly actions?: ReactNode;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A region of a page with a head; regions are divided by lines. */
export function Pane({ title, aside, actions, className, children }: PaneProps) {
  return (
    <section className={classNames('border-line border-b', className)}>
      <div className="flex min-h-(--pane-head) flex-wrap items-center gap-x-2 px-5 pt-1">
        <h2 className="font-semibold">{title}</h2>
        {aside !== undefined && <span className="text-text-3 text-small">{aside}</span>}
        {actions !== undefined && <div className="ml-auto flex items-center gap-2">{actions}</div>}
      </div>
      {children}
    </section>
  );
}

interface EmptyProps {
  readonly icon: LucideIcon;
  readonly title: string;
  /** The one next step. */
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}

export function Empty({ icon: Icon, title, children, action }: EmptyProps) {
  return (
    <div className="border-line m-5 flex max-w-160 items-center gap-3 rounded-3 border p-5">
      <Icon size={18} aria-hidden className="text-text-3 shrink-0" />
      <div className="min-w-0 grow">
        <p className="font-semibold">{title}</p>
        {children !== undefined && <div className="text-text-2">{children}</div>}
      </div>
      {action}
    </div>
  );
}

interface ErrorPaneProps {
  /** What could not be read, such as `Tools could not be read`. */
  readonly title: string;
  readonly error: unknown;
  readonly onRetry?: () => void;
}

/** An error stays in its region; what was read before may be shown beside it. */
export function ErrorPane({ title, error, onRetry }: ErrorPaneProps) {
  return (
    <div role="alert" className="border-line m-5 flex max-w-160 gap-3 rounded-3 border p-5">
      <CircleX size={18} aria-hidden className="text-bad shrink-0" />
      <div className="min-w-0 grow">
        <p className="font-semibold">{title}</p>
        <p className="text-text-2 [overflow-wrap:anywhere]">{reasonOf(error)}</p>
        {onRetry && (
          <Button icon={RefreshCw} className="mt-3" onClick={onRetry}>
            {texts.common.tryAgain}
          </Button>
        )}
      </div>
    </div>
  );
}

/** In place of what the user has no right to see or do. */
export function NoRight({ children }: { readonly children: ReactNode }) {
  return (
    <p className="text-text-2 m-5 flex max-w-160 items-center gap-3">
      <EyeOff size={16} aria-hidden className="text-text-3 shrink-0" />
      <span>{children}</span>
    </p>
  );
}

/** The first visit of a list shows rows of the same height; later ones show the rows that were read before. */
export function SkeletonRows({ count = 6 }: { readonly count?: number }) {
  return (
    <div role="status" aria-label={texts.common.loading} className="divide-line divide-y">
      {Array.from({ length: count }, (_, row) => (
        <div key={row} className="flex h-(--row) items-center gap-6 px-5" aria-hidden>
          <span className="bg-idle-weak h-2.5 w-4 rounded-1" />
          <span className="bg-idle-weak h-2.5 w-32 rounded-1" />
          <span className="bg-idle-weak h-2.5 grow rounded-1" />
          <span className="bg-idle-weak h-2.5 w-16 rounded-1" />
        </div>
      ))}
    </div>
  );
}
