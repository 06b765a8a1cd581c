import { Link } from '@tanstack/react-router';
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { type ButtonKind, buttonLook } from './button.js';

interface LinkButtonProps {
  /** The address of a page, with parameters: `/servers/$name`. */
  readonly to: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly search?: Readonly<Record<string, string | undefined>>;
  readonly kind?: ButtonKind;
  readonly icon?: LucideIcon;
  readonly small?: boolean;
  readonly children: ReactNode;
}

/** Leads to another page, and looks like a button. */
export function LinkButton(props: LinkButtonProps) {
  const { to, params = {}, search = {}, kind = 'plain', icon: Icon, small = false } = props;
  return (
    <Link to={to} params={params} search={search} className={buttonLook(kind, small, true)}>
      {Icon && <Icon size={14} aria-hidden className="shrink-0" />}
      {props.children}
    </Link>
  );
}
