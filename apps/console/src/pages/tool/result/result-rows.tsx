import { useState } from 'react';
import type { JsonObject } from '../../../mcp/json.js';
import { texts } from '../../../texts/index.js';
import { Button } from '../../../ui/button.js';
import { classNames } from '../../../ui/class-names.js';
import { VisibleText } from '../../../ui/diff/visible-text.js';
import { cellText, columnsOf, type ResultTable } from '../try/result-table.js';

const FEW_COLUMNS = 7;
const FEW_ROWS = 100;
const MAX_ROWS = 2_000;
const MAX_CELL = 400;
/** Texts of so many characters stay on a line. */
const NO_WRAP = 24;

interface ResultRowsProps {
  readonly table: ResultTable;
  readonly isFromText: boolean;
}

export function ResultRows({ table, isFromText }: ResultRowsProps) {
  const [showsAllColumns, showAllColumns] = useState(false);
  const [showsAllRows, showAllRows] = useState(false);
  const all = columnsOf(table.rows);
  const columns = showsAllColumns ? all : all.slice(0, FEW_COLUMNS);
  const rows = table.rows.slice(0, showsAllRows ? MAX_ROWS : FEW_ROWS);
  return (
    <>
      <div tabIndex={0} role="region" aria-label={texts.tool.table} className="overflow-x-auto">
        <table className="w-full">
          <thead>
            <tr className="border-line text-text-2 border-b text-left text-small [&>th]:h-8 [&>th]:px-3 [&>th]:font-normal [&>th]:first:pl-5">
              {columns.map((column) => (
                <th
                  key={column}
                  scope="col"
                  className={classNames(isNumeric(rows, column) && 'text-right')}
                >
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => (
              <tr key={at} className="border-line hover:bg-hover border-b align-top">
                {columns.map((column) => (
                  <Cell key={column} value={row[column]} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="text-text-3 flex flex-wrap items-center gap-2 px-5 py-2 text-small">
        {texts.tool.shownRows(rows.length, table.rows.length, columns.length, all.length)}
        {isFromText && ` ${texts.tool.fromText}`}
        {columns.length < all.length && (
          <Button kind="ghost" small onClick={() => showAllColumns(true)}>
            {texts.tool.allColumns}
          </Button>
        )}
        {rows.length < table.rows.length && !showsAllRows && (
          <Button kind="ghost" small onClick={() => showAllRows(true)}>
            {texts.tool.allRows}
          </Button>
        )}
      </p>
    </>
  );
}

function isNumeric(rows: readonly JsonObject[], column: string): boolean {
  return typeof rows[0]?.[column] === 'number';
}

function Cell({ value }: { readonly value: unknown }) {
  const text = cellText(value);
  return (
    <td
      className={classNames(
        'max-w-100 min-w-16 px-3 py-1.5 [overflow-wrap:anywhere] first:pl-5',
        typeof value === 'number' && 'text-right',
        text.length <= NO_WRAP && 'whitespace-nowrap',
        typeof value === 'object' &&
          value !== null &&
          !Array.isArray(value) &&
          'font-mono text-small',
      )}
    >
      <VisibleText>{text.length > MAX_CELL ? `${text.slice(0, MAX_CELL)} …` : text}</VisibleText>
    </td>
  );
}
