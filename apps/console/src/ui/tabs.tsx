import { useNavigate, useSearch } from '@tanstack/react-router';
import { Tabs as Primitive } from 'radix-ui';
import type { ReactNode } from 'react';
import { classNames } from './class-names.js';

export interface Tab {
  readonly id: string;
  readonly label: ReactNode;
  /** Shown as a number beside the label. */
  readonly count?: number;
  readonly content: ReactNode;
}

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly Tab[];
  /** The name in the address; the first tab needs none. */
  readonly param?: string;
  /** The value that is left out of the address: the first tab, unless something else is shown then. */
  readonly usual?: string;
  readonly aside?: ReactNode;
}

/** The open tab is part of the address. */
export function Tabs({ label, tabs, param = 'tab', usual = tabs[0]?.id ?? '', aside }: TabsProps) {
  const [value, setValue] = useAddressState(param, usual);
  return (
    <Primitive.Root value={value} onValueChange={setValue} className="flex min-h-0 grow flex-col">
      <div className="border-line flex shrink-0 items-center gap-3 overflow-x-auto border-b px-5">
        <Primitive.List aria-label={label} className="flex gap-5">
          {tabs.map(({ id, label: text, count }) => (
            <Primitive.Trigger
              key={id}
              value={id}
              className={classNames(
                'text-text-2 hover:text-text -mb-px flex h-9 items-center gap-1.5 border-b-2 border-transparent whitespace-nowrap',
                'data-[state=active]:border-accent data-[state=active]:text-text data-[state=active]:font-medium',
              )}
            >
              {text}
              {count !== undefined && (
                <span className="bg-idle-weak text-text-2 rounded-1 px-1.5 text-label">
                  {count}
                </span>
              )}
            </Primitive.Trigger>
          ))}
        </Primitive.List>
        {aside !== undefined && <div className="ml-auto flex items-center gap-2">{aside}</div>}
      </div>
      {tabs.map(({ id, content }) => (
        <Primitive.Content key={id} value={id} className="min-h-0 grow outline-none">
          {content}
        </Primitive.Content>
      ))}
    </Primitive.Root>
  );
}

/** A value of the address (`?param=value`), so that the page can be shared and reloaded. */
export function useAddressState(param: string, usual: string): [string, (value: string) => void] {
  const search = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>;
  const navigate = useNavigate();
  const set = (value: string): void => {
    void navigate({
      to: '.',
      search: (before: Record<string, unknown>) => ({
        ...before,
        [param]: value === usual ? undefined : value,
      }),
      replace: true,
      resetScroll: false,
    });
  };
  return [search[param] ?? usual, set];
}
