import type { ToolRow } from '../../model/tool-row.js';
import type { Sorting } from '../../ui/data-table.js';
import { useAddressState } from '../../ui/tabs.js';

/** Value of the filter for tools without a skill. */
export const NO_SKILL = 'none';

const FILTERS = ['q', 'server', 'skill', 'effect', 'state'] as const;
type Filter = (typeof FILTERS)[number];

export interface ToolFilters {
  readonly values: Readonly<Record<Filter, string>>;
  readonly set: Readonly<Record<Filter, (value: string) => void>>;
}

export function useToolFilters(): ToolFilters {
  const [q, setQ] = useAddressState('q', '');
  const [server, setServer] = useAddressState('server', '');
  const [skill, setSkill] = useAddressState('skill', '');
  const [effect, setEffect] = useAddressState('effect', '');
  const [state, setState] = useAddressState('state', '');
  return {
    values: { q, server, skill, effect, state },
    set: { q: setQ, server: setServer, skill: setSkill, effect: setEffect, state: setState },
  };
}

/** The sorted column is in the address as `name` or `-name`. */
export function useSorting(): {
  readonly value: Sorting;
  readonly onChange: (to: Sorting) => void;
} {
  const [text, setText] = useAddressState('sort', 'tool');
  const isDown = text.startsWith('-');
  return {
    value: { column: isDown ? text.slice(1) : text, direction: isDown ? 'desc' : 'asc' },
    onChange: ({ column, direction }) => setText(direction === 'desc' ? `-${column}` : column),
  };
}

/** Every word has to be somewhere in the name, the title or the description. */
export function filtered(
  rows: readonly ToolRow[],
  { q, server, skill, effect, state }: ToolFilters['values'],
): ToolRow[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter(
    (row) =>
      (server === '' || row.server === server) &&
      (state === '' || row.state === state) &&
      (effect === '' || row.effects.some((one) => one === effect)) &&
      (skill === '' ||
        (skill === NO_SKILL ? row.skillIds.length === 0 : row.skillIds.includes(skill))) &&
      words.every((word) => row.words.includes(word)),
  );
}

const keys: Readonly<Record<string, (row: ToolRow) => string | number>> = {
  tool: ({ name }) => name,
  tokens: ({ tokens = 0 }) => tokens,
  state: ({ state, name }) => `${state} ${name}`,
  skills: ({ skillIds, name }) => `${skillIds[0] ?? '~'} ${name}`,
};

/** In the order of the service, so that pages that arrive are nearly sorted. */
function compare(a: string | number, b: string | number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function sorted(rows: readonly ToolRow[], { column, direction }: Sorting): ToolRow[] {
  const key = keys[column] ?? (({ name }: ToolRow) => name);
  const sign = direction === 'asc' ? 1 : -1;
  const keyed = rows.map((row) => ({ row, key: key(row) }));
  return keyed.toSorted((a, b) => sign * compare(a.key, b.key)).map(({ row }) => row);
}
