import { Search } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { texts } from '../../texts/index.js';

const { search: t } = texts;
const PAUSE_MS = 250;

interface SearchBoxProps {
  readonly query: string;
  readonly took: string | undefined;
  readonly onChange: (query: string) => void;
}

/** Searches when typing pauses, or at once with Enter. */
export function SearchBox({ query, took, onChange }: SearchBoxProps) {
  const [text, setText] = useState(query);
  const told = useRef(query);
  const tell = useRef(onChange);
  useEffect(() => {
    tell.current = onChange;
  });
  useEffect(() => {
    // The address changed by itself, such as by going back.
    if (query !== told.current) setText(query);
    told.current = query;
  }, [query]);
  useEffect(() => {
    if (text === told.current) return;
    const timer = window.setTimeout(() => {
      told.current = text;
      tell.current(text);
    }, PAUSE_MS);
    return () => window.clearTimeout(timer);
  }, [text]);
  return (
    <form
      role="search"
      className="border-control-line focus-within:border-accent flex items-center gap-3 rounded-3 border px-3 focus-within:shadow-[inset_0_0_0_1px_var(--accent)]"
      onSubmit={(event) => {
        event.preventDefault();
        told.current = text;
        onChange(text);
      }}
    >
      <Search size={16} aria-hidden className="text-text-2 shrink-0" />
      <input
        autoFocus
        type="search"
        aria-label={t.queryLabel}
        placeholder={t.placeholder}
        value={text}
        onChange={(event) => setText(event.target.value)}
        className="h-10 min-w-0 grow bg-transparent text-title !shadow-none outline-none"
      />
      {took !== undefined && (
        <span className="text-text-2 text-small whitespace-nowrap">{took}</span>
      )}
    </form>
  );
}
