import { useSyncExternalStore } from 'react';
import { texts } from '../texts/index.js';
import { age, exactTime } from './format.js';

/** One timer for all times of the page. */
const listeners = new Set<() => void>();
let now = new Date().getTime();
window.setInterval(() => {
  now = new Date().getTime();
  for (const listener of listeners) listener();
}, 1_000);

export function useNow(): number {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => now,
  );
}

interface TimeAgoProps {
  readonly at: string | null | undefined;
  /** `25 min` instead of `25 min ago`. */
  readonly bare?: boolean;
}

/** Relative, with the exact time on hover. */
export function TimeAgo({ at, bare = false }: TimeAgoProps) {
  const current = useNow();
  if (at === null || at === undefined) return <span>{texts.common.never}</span>;
  const passed = age(Math.max(0, current - new Date(at).getTime()));
  return (
    <time dateTime={at} title={exactTime(at)} className="whitespace-nowrap">
      {bare ? passed : texts.common.ago(passed)}
    </time>
  );
}
