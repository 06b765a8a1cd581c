import type { AuditOutcome } from './audit.entity.js';

/** `calls`: entries of tool calls; `changes`: all others. */
export const auditKinds = ['calls', 'changes'] as const;
export type AuditKind = (typeof auditKinds)[number];

/** Undefined members filter nothing. */
export interface AuditFilter {
  readonly event?: string | undefined;
  readonly kind?: AuditKind | undefined;
  readonly actor?: string | undefined;
  readonly outcome?: AuditOutcome | undefined;
  readonly serverId?: string | undefined;
  /** The name that it had. */
  readonly server?: string | undefined;
  /** Canonical name. */
  readonly tool?: string | undefined;
  /** A part of any text of an entry, in any case. */
  readonly text?: string | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

export interface Condition {
  /** With `?` for the value. */
  readonly sql: string;
  readonly value: unknown;
}

/** How the entries of a filter are found. */
export interface FilterPlan {
  /** Columns of the index that leads to them, each with its value. */
  readonly scope: readonly { readonly column: string; readonly value: string }[];
  /** Says that a partial index applies; without values. */
  readonly partial: string | undefined;
  /** Checked for each entry that the index leads to. */
  readonly rest: readonly Condition[];
}

const CALL = 'tool.called';
const TOOL = `(details ->> 'tool')`;

/** Chooses the index that leads to the fewest entries; the planner knows too little of the embedded database. */
export function planOf(filter: AuditFilter): FilterPlan {
  const { serverId, tool, actor, outcome, kind } = filter;
  const event = kind === 'calls' ? (filter.event ?? CALL) : filter.event;
  const columns = [
    ['server_id', serverId],
    [TOOL, tool],
    ['actor', actor],
    ['outcome', outcome],
    ['event', event],
  ] as const;
  const given = columns.flatMap(([column, value]) =>
    value === undefined ? [] : [{ column, value }],
  );
  // Most entries are a success, so that no index leads to these.
  const [first] = given.filter(({ column, value }) => column !== 'outcome' || value !== 'success');
  const scope = first ? [first] : [];
  if (first?.column === 'server_id' && event !== undefined) {
    scope.push({ column: 'event', value: event });
  }
  const isOnlyChanges = kind === 'changes' && !first;
  return {
    scope,
    partial:
      first?.column === 'outcome'
        ? `outcome <> 'success'`
        : isOnlyChanges
          ? `event <> '${CALL}'`
          : undefined,
    rest: [
      ...given
        .filter(({ column }) => scope.every((one) => one.column !== column))
        .map(({ column, value }) => ({ sql: `${column} = ?`, value })),
      ...(kind === 'changes' && !isOnlyChanges ? [{ sql: 'event <> ?', value: CALL }] : []),
      ...restOf(filter),
    ],
  };
}

function restOf({ kind, event, server, text, from, to }: AuditFilter): Condition[] {
  const isContradiction = kind === 'calls' && event !== undefined && event !== CALL;
  const conditions = [
    isContradiction ? { sql: 'event = ?', value: CALL } : undefined,
    server === undefined ? undefined : { sql: 'server_name = ?', value: server },
    from && { sql: 'timestamp >= ?', value: from },
    to && { sql: 'timestamp < ?', value: to },
    text === undefined
      ? undefined
      : {
          sql: `(event || ' ' || actor || ' ' || coalesce(server_name, '') || ' ' || details::text) ILIKE ?`,
          value: `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`,
        },
  ];
  return conditions.filter((condition) => condition !== undefined);
}
