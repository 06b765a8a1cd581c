import { LoaderCircle, type LucideIcon } from 'lucide-react';
import type { ComponentProps } from 'react';
import { classNames } from './class-names.js';

export type ButtonKind = 'plain' | 'primary' | 'ghost' | 'danger';

const looks: Readonly<Record<ButtonKind, string>> = {
  plain: 'border border-control-line/60 bg-page hover:bg-hover active:bg-press text-text',
  primary: 'bg-accent text-on-accent hover:bg-accent-hover',
  ghost: 'hover:bg-hover active:bg-press text-text-2 hover:text-text',
  danger: 'border border-control-line/60 bg-page text-bad hover:bg-bad-weak active:bg-bad-weak',
};

export interface ButtonProps extends ComponentProps<'button'> {
  /** One primary button in a region. */
  readonly kind?: ButtonKind;
  readonly icon?: LucideIcon;
  /** What it does is under way: the label stays, the icon turns. */
  readonly busy?: boolean;
  /** In rows of tables. */
  readonly small?: boolean;
}

/** The look of a button, also of a link that is drawn as one. */
export function buttonLook(kind: ButtonKind, isSmall: boolean, isLabelled: boolean): string {
  return classNames(
    'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-2 font-medium whitespace-nowrap',
    'transition-colors duration-(--t-fast)',
    isSmall ? 'h-6 text-small' : 'h-(--control)',
    isLabelled ? (isSmall ? 'px-2' : 'px-2.5') : isSmall ? 'w-6' : 'w-(--control)',
    looks[kind],
  );
}

/** A button without a label needs `aria-label`. */
export function Button(props: ButtonProps) {
  const { kind = 'plain', icon, busy, small, className, children, disabled, ...rest } = props;
  const Icon = busy ? LoaderCircle : icon;
  const isLabelled = children !== undefined && children !== null && children !== '';
  return (
    <button
      type="button"
      {...rest}
      disabled={disabled === true || busy === true}
      className={classNames(
        buttonLook(kind, small === true, isLabelled),
        'disabled:pointer-events-none disabled:opacity-60',
        className,
      )}
    >
      {Icon && (
        <Icon
          size={14}
          aria-hidden
          className={classNames('shrink-0', busy && 'animate-spin motion-reduce:animate-none')}
        />
      )}
      {children}
    </button>
  );
}
