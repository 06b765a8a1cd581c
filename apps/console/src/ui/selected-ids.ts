import { useEffect, useState } from 'react';
import { isTaken } from './list-keys.js';

/** The selection of a list; `Esc` lets go of it. */
export function useSelectedIds() {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && !isTaken(event)) setIds(new Set());
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
  return { ids, setIds };
}
