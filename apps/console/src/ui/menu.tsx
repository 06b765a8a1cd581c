import { DropdownMenu as Primitive } from 'radix-ui';
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { classNames } from './class-names.js';

export interface MenuItem {
  readonly label: string;
  readonly icon?: LucideIcon;
  readonly isDangerous?: boolean;
  readonly isChosen?: boolean;
  readonly onSelect: () => void;
}

interface MenuProps {
  /** The button that opens it. */
  readonly trigger: ReactNode;
  readonly heading?: string;
  readonly items: readonly MenuItem[];
}

export function Menu({ trigger, heading, items }: MenuProps) {
  return (
    <Primitive.Root>
      <Primitive.Trigger asChild>{trigger}</Primitive.Trigger>
      <Primitive.Portal>
        <Primitive.Content
          align="end"
          sideOffset={4}
          className="bg-raise border-line shadow-float z-50 min-w-44 rounded-3 border p-1"
        >
          {heading !== undefined && (
            <Primitive.Label className="text-text-3 px-2 py-1 text-label">
              {heading}
            </Primitive.Label>
          )}
          {items.map(({ label, icon: Icon, isDangerous, isChosen, onSelect }) => (
            <Primitive.Item
              key={label}
              onSelect={onSelect}
              className={classNames(
                'data-[highlighted]:bg-hover flex h-(--control) cursor-pointer items-center gap-2 rounded-2 px-2 outline-none',
                isDangerous && 'text-bad',
                isChosen && 'font-medium',
              )}
            >
              {Icon && <Icon size={14} aria-hidden />}
              {label}
              {isChosen && (
                <span aria-hidden className="text-accent ml-auto">
                  ✓
                </span>
              )}
            </Primitive.Item>
          ))}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}
