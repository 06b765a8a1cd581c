import { useQueries, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { ServerDetailView } from '@app/api-client';
import { serverQuery, serversQuery } from '../../../api/queries.js';
import { configOf } from '../../../servers/form/server-draft.js';
import { MASK } from '../../../ui/secret-input.js';
import { type PastedEntry, readPaste } from './read-paste.js';

export type PlanKind = 'new' | 'known' | 'changed' | 'unusable';

/** What will happen with one entry. */
export interface PlannedEntry extends PastedEntry {
  readonly kind: PlanKind;
  /** Of the server that has this name already. */
  readonly serverId: string | undefined;
}

/** What was pasted, compared with the servers that are registered. */
export function usePlan(text: string) {
  const { entries, problem } = useMemo(() => readPaste(text), [text]);
  const { data: servers = [] } = useQuery(serversQuery);
  const ids = entries.flatMap(
    ({ draft }) => servers.find((one) => one.name === draft.name)?.id ?? [],
  );
  const details = useQueries({ queries: [...new Set(ids)].map((id) => serverQuery(id)) });
  const known = new Map(details.flatMap(({ data }) => (data ? [[data.name, data] as const] : [])));
  const planned = entries.map((entry): PlannedEntry => {
    const server = known.get(entry.draft.name);
    return { ...entry, serverId: server?.id, kind: kindOf(entry, server) };
  });
  return { entries: planned, problem };
}

function kindOf({ draft, problem }: PastedEntry, server: ServerDetailView | undefined): PlanKind {
  if (problem !== undefined) return 'unusable';
  if (!server) return 'new';
  const isSame =
    server.transport_type === draft.transport &&
    isEqual(
      { env: {}, headers: {}, ...server.connection_config },
      { env: {}, headers: {}, ...configOf(draft) },
    );
  return isSame ? 'known' : 'changed';
}

/** Whether settings are the same as far as can be seen: a masked value may be any. */
function isEqual(shown: unknown, pasted: unknown): boolean {
  if (typeof shown === 'string' && shown.includes(MASK)) return typeof pasted === 'string';
  if (typeof shown !== 'object' || shown === null || typeof pasted !== 'object' || pasted === null)
    return shown === pasted;
  const [one, other] = [{ ...shown }, { ...pasted }] as Record<string, unknown>[];
  const keys = new Set([...Object.keys(one ?? {}), ...Object.keys(other ?? {})]);
  return [...keys].every((key) => isEqual(one?.[key], other?.[key]));
}
