import { isJsonObject, type JsonObject } from '../../../mcp/json.js';

export interface ResultTable {
  /** The member that holds the rows; empty if the rows are the value itself. */
  readonly name: string;
  readonly rows: readonly JsonObject[];
}

/** The longest list of objects in a value, at most two levels down. */
export function tableOf(value: unknown): ResultTable | undefined {
  const lists = listsIn(value, '', 0).filter(({ rows }) => rows.length > 0);
  return lists.toSorted((a, b) => b.rows.length - a.rows.length)[0];
}

function listsIn(value: unknown, name: string, depth: number): ResultTable[] {
  if (Array.isArray(value)) {
    const rows = (value as unknown[]).filter(isJsonObject);
    return rows.length === value.length ? [{ name, rows }] : [];
  }
  if (!isJsonObject(value) || depth >= 2) return [];
  return Object.entries(value).flatMap(([key, member]) => listsIn(member, key, depth + 1));
}

/** All fields of the rows, those of most rows first, in the order of the first row otherwise. */
export function columnsOf(rows: readonly JsonObject[]): string[] {
  const counts = new Map<string, number>();
  for (const row of rows) {
    for (const key of Object.keys(row)) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].toSorted((a, b) => b[1] - a[1]).map(([key]) => key);
}

/** A cell as a short text; objects and lists of them as JSON. */
export function cellText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && (value as unknown[]).every((one) => typeof one !== 'object')) {
    return (value as unknown[]).map(String).join(', ');
  }
  return JSON.stringify(value);
}

const MAX_LINKS = 200;

/** Web addresses in a value. */
export function addressesIn(value: unknown): string[] {
  const found = new Set<string>();
  const visit = (node: unknown): void => {
    if (found.size >= MAX_LINKS) return;
    if (typeof node === 'string') {
      if (/^https?:\/\/\S+$/.test(node)) found.add(node);
    } else if (Array.isArray(node)) for (const item of node as unknown[]) visit(item);
    else if (isJsonObject(node)) for (const item of Object.values(node)) visit(item);
  };
  visit(value);
  return [...found];
}
