import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import { reasonOf } from '../../api/refused.js';
import { texts } from '../../texts/index.js';

/** Requests at once: the service serves other users too. */
const AT_ONCE = 4;

/** Does something with many tools, a few at a time; what was refused is told with the first reason. */
export function useBulk<Item>(work: (item: Item) => Promise<unknown>) {
  const client = useQueryClient();
  const [done, setDone] = useState<number>();
  const run = async (items: readonly Item[]): Promise<void> => {
    const failures: unknown[] = [];
    const waiting = [...items];
    let count = 0;
    setDone(0);
    const worker = async (): Promise<void> => {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
        await work(item).catch((error: unknown) => failures.push(error));
        count += 1;
        setDone(count);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    setDone(undefined);
    if (failures.length === 0) toast.success(texts.tools.done(items.length));
    else {
      toast.error(texts.tools.someFailed(failures.length, items.length, reasonOf(failures[0])));
    }
    for (const key of ['tools', 'skills', 'approvals']) {
      void client.invalidateQueries({ queryKey: [key] });
    }
  };
  return { run, done };
}
