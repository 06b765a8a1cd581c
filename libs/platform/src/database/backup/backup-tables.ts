/** Tables that a backup does not have, each with the reason; it has all others. */
export const LEFT_OUT: ReadonlyMap<string, string> = new Map([
  ['migrations', 'the head of a backup names them'],
  ['compatible_migrations', 'follows from the migrations'],
  ['leader_lease', 'is about processes that run'],
  ['replicas', 'is about processes that run'],
  ['tool_vectors', 'is computed from the tools'],
  ['kept_results', 'expires within a week, an hour by default'],
  ['kept_result_pages', 'belongs to kept_results'],
  ['browser_sessions', 'people log in again'],
  ['login_codes', 'expires within ten minutes'],
  ['webhook_deliveries', 'would be sent a second time'],
]);

/**
 * Grow with use, and no other table refers to their rows: of the embedded database, which has one connection for
 * everything, they are read after the transaction, up to the last row that it saw. Only counts of the current day change
 * meanwhile.
 */
export const LOGS: ReadonlySet<string> = new Set([
  'audit_log',
  'call_days',
  'server_connection_history',
]);

export interface TableShape {
  readonly name: string;
  /** Without generated ones. */
  readonly columns: readonly string[];
  readonly key: readonly string[];
  /** Tables that have to be filled before this one. */
  readonly refersTo: readonly string[];
}

/** Each table after those that it refers to. */
export function inOrderOfReferences(tables: readonly TableShape[]): readonly TableShape[] {
  const placed = new Map<string, TableShape>();
  const names = new Set(tables.map(({ name }) => name));
  while (placed.size < tables.length) {
    const next = tables.filter(
      ({ name, refersTo }) =>
        !placed.has(name) &&
        refersTo.every((other) => other === name || placed.has(other) || !names.has(other)),
    );
    if (next.length === 0) throw new Error('the tables refer to each other in a circle');
    for (const table of next) placed.set(table.name, table);
  }
  return [...placed.values()];
}
