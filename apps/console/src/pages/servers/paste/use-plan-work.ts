import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import type { ServerTestView } from '@app/api-client';
import { reasonOf } from '../../../api/refused.js';
import { ask } from '../../../api/service.js';
import { configOf, registrationOf } from '../../../servers/form/server-draft.js';
import { testServer } from '../../../servers/form/server-trial.js';
import { texts } from '../../../texts/index.js';
import { filledIn } from './read-paste.js';
import type { PlannedEntry } from './use-plan.js';

/** Where the work on one entry stands. */
export type Progress =
  | { readonly kind: 'testing' | 'saving' | 'saved' }
  | { readonly kind: 'tested'; readonly found: ServerTestView }
  | { readonly kind: 'refused'; readonly reason: string };

type Values = Readonly<Record<string, string>>;

/** The service tests two configurations at a time. */
const AT_ONCE = 2;

async function save({ draft, kind, serverId }: PlannedEntry, values: Values): Promise<void> {
  const filled = filledIn(draft, values);
  if (kind === 'changed' && serverId !== undefined) {
    const body = { connection_config: configOf(filled) };
    await ask((api) => api.updateServer({ path: { id: serverId }, body }));
  } else await ask((api) => api.registerServer({ body: registrationOf(filled) }));
}

async function withEach<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const next = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}

/** Tests and saves the chosen entries, each by itself: one that fails costs no other. */
export function usePlanWork(onDone: () => void) {
  const client = useQueryClient();
  const [progress, setProgress] = useState<Readonly<Record<string, Progress>>>({});
  const [values, setValues] = useState<Values>({});
  const [isBusy, setBusy] = useState(false);
  const tell = (key: string, now: Progress): void =>
    setProgress((before) => ({ ...before, [key]: now }));

  const test = async (entries: readonly PlannedEntry[]): Promise<void> => {
    setBusy(true);
    await withEach(entries, async ({ key, draft }) => {
      tell(key, { kind: 'testing' });
      try {
        tell(key, { kind: 'tested', found: await testServer(filledIn(draft, values)) });
      } catch (error) {
        tell(key, { kind: 'refused', reason: reasonOf(error) });
      }
    });
    setBusy(false);
  };

  const saveAll = async (entries: readonly PlannedEntry[]): Promise<void> => {
    setBusy(true);
    let saved = 0;
    await withEach(entries, async (entry) => {
      tell(entry.key, { kind: 'saving' });
      try {
        await save(entry, values);
        saved += 1;
        tell(entry.key, { kind: 'saved' });
      } catch (error) {
        tell(entry.key, { kind: 'refused', reason: reasonOf(error) });
      }
    });
    setBusy(false);
    if (saved > 0) toast.success(texts.servers.paste.done(saved));
    await client.invalidateQueries({ queryKey: ['servers'] });
    if (saved === entries.length) onDone();
    else toast.error(texts.servers.paste.someRefused(entries.length - saved));
  };
  const forget = (): void => setProgress({});
  return { progress, values, setValues, isBusy, test, saveAll, forget };
}
