import { useEffect, useRef, useState } from 'react';

interface ListKeys {
  readonly count: number;
  /** Where the cursor is, when the page keeps it (-1: nowhere). */
  readonly at?: number;
  readonly onMove: (to: number) => void;
  readonly onOpen: (at: number) => void;
  readonly onSelect: (at: number) => void;
}

/** Whether the key belongs to what has the focus: a field, a menu, a dialog. */
export function isTaken(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return true;
  const { target } = event;
  if (!(target instanceof Element)) return false;
  return (
    target.closest('input, textarea, select, [contenteditable], [role=dialog], [role=menu]') !==
    null
  );
}

/** `J` and `K` move through the list of the page, `Enter` opens, `X` selects. Returns where the cursor is, or -1. */
export function useListKeys(keys: ListKeys): number {
  const [own, setCursor] = useState(-1);
  const cursor = keys.at ?? own;
  const newest = useRef({ ...keys, cursor });
  useEffect(() => {
    newest.current = { ...keys, cursor };
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (isTaken(event)) return;
      const { count, cursor: at, onMove, onOpen, onSelect } = newest.current;
      const step = { j: 1, k: -1 }[event.key];
      if (step !== undefined && count > 0) {
        const to = Math.min(count - 1, Math.max(0, at + step));
        setCursor(to);
        onMove(to);
      } else if (at >= 0 && event.key === 'Enter' && event.target === document.body) onOpen(at);
      else if (at >= 0 && event.key === 'x') onSelect(at);
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
  return cursor < keys.count ? cursor : -1;
}
