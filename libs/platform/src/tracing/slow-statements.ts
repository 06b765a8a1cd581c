import type { SlowStatements } from '../database/connections/guarded-runner.js';
import type { Tracing } from './tracing.js';

const SLOW_MS = 50;
const OPERATION = /^\s*([A-Za-z]{1,20})/;

/**
 * Records slow statements, each as a trace of its own: requests read no rows on their way, so what is slow is work in
 * the background or a change. Without the text, in which values may have been written.
 */
export function slowStatements(tracing: Tracing): SlowStatements | undefined {
  if (!tracing.isOn) return undefined;
  return {
    fromMs: SLOW_MS,
    note: (sql, table, startedAt) => {
      const operation = OPERATION.exec(sql)?.[1]?.toUpperCase() ?? 'SQL';
      const collection = table && `mcp.${table}`;
      const summary = collection ? `${operation} ${collection}` : operation;
      tracing.record(summary, startedAt, [
        ...['db.system.name', 'postgresql', 'db.operation.name', operation],
        ...['db.collection.name', collection, 'db.query.summary', summary],
      ]);
    },
  };
}
