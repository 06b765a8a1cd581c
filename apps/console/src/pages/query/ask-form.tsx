import { useQuery } from '@tanstack/react-query';
import { Network } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { serversQuery } from '../../api/queries.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { FilterChip } from '../../ui/filter-chip.js';
import { Segmented } from '../../ui/segmented.js';
import { useAddressState } from '../../ui/tabs.js';

const { query: t } = texts;
const choices = ['10', '30', '100'] as const;
const USUAL = 30;

export function maxResultsOf(text: string): number {
  return Number(choices.find((one) => one === text) ?? USUAL);
}

interface AskFormProps {
  readonly isAsking: boolean;
  readonly onAskAgain: () => void;
}

/** Servers are asked when the form is sent, not while the question is typed. */
export function AskForm({ isAsking, onAskAgain }: AskFormProps) {
  const [asked, setAsked] = useAddressState('q', '');
  const [server, setServer] = useAddressState('server', '');
  const [most, setMost] = useAddressState('most', '30');
  const [edited, setEdited] = useState<string>();
  const text = edited ?? asked;
  const { data: servers = [] } = useQuery(serversQuery);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (text.trim() === '') return;
    setEdited(undefined);
    if (text === asked) onAskAgain();
    else setAsked(text);
  };
  return (
    <form role="search" onSubmit={submit} className="grid gap-2.5 px-5 py-4">
      <div className="border-control-line focus-within:border-accent flex items-center gap-3 rounded-3 border py-1 pr-1.5 pl-3 focus-within:shadow-[inset_0_0_0_1px_var(--accent)]">
        <Network size={16} aria-hidden className="text-text-2 shrink-0" />
        <input
          autoFocus={asked === ''}
          aria-label={t.label}
          placeholder={t.placeholder}
          value={text}
          maxLength={10_000}
          onChange={(event) => setEdited(event.target.value)}
          className="h-8 min-w-0 grow bg-transparent text-title !shadow-none outline-none"
        />
        <Button type="submit" kind="primary" busy={isAsking} disabled={text.trim() === ''}>
          {t.ask}
        </Button>
      </div>
      <div className="flex flex-wrap items-center gap-3">
        <FilterChip
          name={t.server}
          value={server}
          options={servers.map(({ name }) => ({ value: name, label: name }))}
          onChange={setServer}
        />
        <span className="text-text-2 inline-flex items-center gap-2 text-small">
          {t.results}
          <Segmented
            label={t.results}
            value={String(maxResultsOf(most))}
            options={choices.map((value) => ({ value: value as string, label: value }))}
            onChange={setMost}
          />
        </span>
      </div>
    </form>
  );
}
