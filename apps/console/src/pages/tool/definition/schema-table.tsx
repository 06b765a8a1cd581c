import { texts } from '../../../texts/index.js';
import { VisibleText } from '../../../ui/diff/visible-text.js';
import type { JsonObject } from '../../../mcp/json.js';
import { type SchemaRow, schemaRows } from './schema-rows.js';

interface SchemaTableProps {
  readonly schema: JsonObject;
  /** `Argument` or `Member`. */
  readonly head: string;
}

/** A schema as a table; below 640 px each member is a block. */
export function SchemaTable({ schema, head }: SchemaTableProps) {
  const rows = schemaRows(schema);
  return (
    <table className="block w-full tab:table">
      <thead className="sr-only tab:not-sr-only">
        <tr className="border-line text-text-2 border-b text-left text-small [&>th]:h-8 [&>th]:pr-4 [&>th]:font-normal">
          <th scope="col" className="pl-5">
            {head}
          </th>
          <th scope="col">{texts.tool.type}</th>
          <th scope="col">{texts.tool.usual}</th>
          <th scope="col">{texts.tool.meaning}</th>
        </tr>
      </thead>
      <tbody className="block tab:table-row-group">
        {rows.map((row) => (
          <SchemaLine key={row.path} row={row} />
        ))}
      </tbody>
    </table>
  );
}

function SchemaLine({ row }: { readonly row: SchemaRow }) {
  const { name, depth, type, isRequired, usual, description, values } = row;
  return (
    <tr className="border-line block border-b px-5 py-1.5 align-top tab:table-row [&>td]:block [&>td]:pr-4 tab:[&>td]:table-cell tab:[&>td]:py-1.5">
      <td className="font-mono text-small tab:pl-5">
        <span style={{ paddingLeft: depth * 16 }} className="[overflow-wrap:anywhere]">
          {depth > 0 && <span className="text-text-3">· </span>}
          <VisibleText>{name}</VisibleText>
        </span>
        {isRequired && (
          <span className="text-bad ml-1.5 font-ui text-label">{texts.tool.required}</span>
        )}
      </td>
      <td className="text-text-2 text-small whitespace-nowrap">{type}</td>
      <td className="font-mono text-small [overflow-wrap:anywhere]">{usual}</td>
      <td className="text-text-2 [overflow-wrap:anywhere]">
        <VisibleText>{description}</VisibleText>
        {values.length > 0 && (
          <span className="block font-mono text-label">{values.slice(0, 20).join(', ')}</span>
        )}
      </td>
    </tr>
  );
}
