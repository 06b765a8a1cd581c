import type { ReactNode } from 'react';
import { classNames } from './class-names.js';

export type Tint = 'idle' | 'ok' | 'warn' | 'bad' | 'accent';

const looks: Readonly<Record<Tint, string>> = {
  idle: 'bg-idle-weak text-text-2',
  ok: 'bg-ok-weak text-ok',
  warn: 'bg-warn-weak text-warn',
  bad: 'bg-bad-weak text-bad',
  accent: 'bg-accent-weak text-accent',
};

interface BadgeProps {
  readonly tint?: Tint;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A short word or number that is no state of a server or tool. */
export function Badge({ tint = 'idle', className, children }: BadgeProps) {
  return (
    <span
      className={classNames(
        'inline-flex items-center rounded-1 px-1.5 text-label whitespace-nowrap',
        looks[tint],
        className,
      )}
    >
      {children}
    </span>
  );
}
