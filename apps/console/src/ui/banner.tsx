import { CircleX, Info, type LucideIcon, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { classNames } from './class-names.js';

type Kind = 'info' | 'warn' | 'bad';

const looks: Readonly<Record<Kind, { readonly icon: LucideIcon; readonly look: string }>> = {
  info: { icon: Info, look: 'bg-accent-weak text-text [&>svg]:text-accent' },
  warn: { icon: TriangleAlert, look: 'bg-warn-weak text-text [&>svg]:text-warn' },
  bad: { icon: CircleX, look: 'bg-bad-weak text-text [&>svg]:text-bad' },
};

interface BannerProps {
  readonly kind: Kind;
  readonly icon?: LucideIcon;
  /** The one thing to do about it. */
  readonly action?: ReactNode;
  readonly className?: string;
  readonly children: ReactNode;
}

/** Cause and effect in a sentence or two, and one action. */
export function Banner({ kind, icon, action, className, children }: BannerProps) {
  const Icon = icon ?? looks[kind].icon;
  return (
    <div
      role={kind === 'bad' ? 'alert' : 'status'}
      className={classNames(
        'flex flex-wrap items-center gap-2.5 rounded-2 px-3 py-2 tab:flex-nowrap',
        looks[kind].look,
        className,
      )}
    >
      <Icon size={16} aria-hidden className="shrink-0" />
      <div className="min-w-0 grow basis-[calc(100%-26px)] [overflow-wrap:anywhere] tab:basis-0">
        {children}
      </div>
      {action}
    </div>
  );
}
