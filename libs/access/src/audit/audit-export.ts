import { Injectable } from '@nestjs/common';
import { type AuditEntryView, type ExportFormat, toView } from './audit.dto.js';
import type { AuditFilter } from './audit-filter.js';
import { AuditStore } from './audit.store.js';

/** Entries read at once: no statement takes long, and a slow client holds no more of them. */
const SLICE = 500;

const COLUMNS = [
  'id',
  'timestamp',
  'event',
  'outcome',
  'actor',
  'actor_subject',
  'ip_address',
  'server_id',
  'server_name',
  'details',
] as const satisfies readonly (keyof AuditEntryView)[];

/** The entries of a filter as text, newest first. Read as fast as the client takes them. */
@Injectable()
export class AuditExport {
  constructor(private readonly audit: AuditStore) {}

  async *lines(filter: AuditFilter, format: ExportFormat, limit: number): AsyncGenerator<string> {
    if (format === 'csv') yield `${COLUMNS.join(',')}\r\n`;
    let after: string | undefined;
    for (let left = limit; left > 0;) {
      const page = { limit: Math.min(SLICE, left), offset: 0, after };
      const { rows, continueAfter } = await this.audit.page(filter, page);
      const shown = rows.slice(0, page.limit);
      if (shown.length > 0) yield shown.map((row) => lineOf(toView(row), format)).join('');
      left -= shown.length;
      after = rows.length > page.limit ? shown.at(-1)?.id : continueAfter;
      if (after === undefined) return;
    }
  }
}

function lineOf(entry: AuditEntryView, format: ExportFormat): string {
  if (format === 'ndjson') return `${JSON.stringify(entry)}\n`;
  return `${COLUMNS.map((column) => cellOf(entry[column])).join(',')}\r\n`;
}

/** A spreadsheet takes a cell that begins so for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

export function cellOf(value: unknown): string {
  const text =
    value === null || value === undefined
      ? ''
      : typeof value === 'string'
        ? value
        : JSON.stringify(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
