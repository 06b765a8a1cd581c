import type { ReactNode } from 'react';
import { texts } from '../texts/index.js';
import { Kbd } from './kbd.js';

interface BulkBarProps {
  readonly count: number;
  readonly onClear: () => void;
  /** Buttons of kind `ghost`. */
  readonly children: ReactNode;
}

/** Floats over the list while rows are selected. */
export function BulkBar({ count, onClear, children }: BulkBarProps) {
  if (count === 0) return null;
  return (
    <div
      role="toolbar"
      aria-label={texts.common.selected(count)}
      className="bg-raise border-line-2 shadow-float fixed bottom-16 left-1/2 z-30 flex max-w-[calc(100%-16px)] -translate-x-1/2 flex-wrap items-center gap-1 rounded-3 border px-3 py-1.5 tab:bottom-5"
    >
      <span className="border-line mr-1 border-r pr-3 font-medium">
        {texts.common.selected(count)}
      </span>
      {children}
      <button type="button" className="ml-1" onClick={onClear} aria-label={texts.common.cancel}>
        <Kbd>Esc</Kbd>
      </button>
    </div>
  );
}
