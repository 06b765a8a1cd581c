import { z } from 'zod';
import type { Database, Tx } from '../database.js';
import type { BackupPart } from './backup-file.js';
import { inOrderOfReferences, LEFT_OUT, LOGS, type TableShape } from './backup-tables.js';

/** Rows of tools have the definition that their server lists. */
const ROWS_PER_PAGE = 200;

const names = z.array(z.object({ name: z.string() }));
const shapes = z.array(
  z.object({
    name: z.string(),
    columns: z.array(z.string()),
    key: z.array(z.string()),
    refersTo: z.array(z.string()),
  }),
);
const pageRows = z.array(z.object({ row: z.string(), key: z.array(z.string()) }));
const sequences = z.array(z.object({ table: z.string(), column: z.string(), name: z.string() }));

/** Reads and fills all tables by what PostgreSQL knows about them, so that a new table is in the next backup. */
export class BackupStore {
  constructor(private readonly database: Database) {}

  /**
   * The rows of one moment. A real PostgreSQL reads all of them in one transaction; in the embedded one that would
   * block everything else while the logs are read, so these follow it (see LOGS).
   */
  async read(isEmbedded: boolean, add: (part: BackupPart) => Promise<void>): Promise<void> {
    const { logs, limits } = await this.database.background.transaction(async (tx) => {
      await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
      const tables = await tablesIn(tx);
      const isLater = ({ name }: TableShape): boolean => isEmbedded && LOGS.has(name);
      for (const table of tables.filter((one) => !isLater(one))) await addRows(tx, table, add);
      const later = tables.filter(isLater);
      const last = new Map<string, readonly string[]>();
      for (const table of later) last.set(table.name, await lastKey(tx, table));
      return { logs: later, limits: last };
    });
    for (const table of logs) {
      await addRows(this.database.background.direct, table, add, limits.get(table.name));
    }
  }

  async migrations(): Promise<readonly string[]> {
    const rows = await this.database.direct.query('SELECT name FROM mcp.migrations ORDER BY id');
    return names.parse(rows).map(({ name }) => name);
  }
}

/** Replaces the rows of all tables of a backup, in a transaction of the caller; its tables have no other rows. */
export class RestoreTarget {
  private constructor(
    private readonly tx: Tx,
    private readonly tables: ReadonlyMap<string, TableShape>,
  ) {}

  static async empty(tx: Tx): Promise<RestoreTarget> {
    const tables = await tablesIn(tx);
    const all = tables.map(({ name }) => `mcp."${name}"`).join(', ');
    await tx.query(`TRUNCATE ${all} CASCADE`);
    return new RestoreTarget(tx, new Map(tables.map((table) => [table.name, table])));
  }

  /** Whether the table is here, with these columns. */
  has(name: string, columns: readonly string[]): boolean {
    const table = this.tables.get(name);
    return table !== undefined && columns.every((column) => table.columns.includes(column));
  }

  /** `rows` are the texts of JSON objects. */
  async insert(name: string, columns: readonly string[], rows: readonly string[]): Promise<void> {
    const list = columns.map((column) => `"${column}"`).join(', ');
    await this.tx.query(
      `INSERT INTO mcp."${name}" (${list}) OVERRIDING SYSTEM VALUE
       SELECT ${list} FROM json_populate_recordset(NULL::mcp."${name}", $1::json)`,
      [`[${rows.join(',')}]`],
    );
  }

  /** The next row of each table gets an id that no row of the backup has. */
  async advanceSequences(): Promise<void> {
    const found = sequences.parse(
      await this.tx.query(
        `SELECT relname AS "table", attname AS "column", pg_get_serial_sequence(format('mcp.%I', relname), attname) AS name
         FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
         WHERE relnamespace = 'mcp'::regnamespace AND relkind = 'r'
           AND pg_get_serial_sequence(format('mcp.%I', relname), attname) IS NOT NULL`,
      ),
    );
    for (const { table, column, name } of found.filter((one) => this.tables.has(one.table))) {
      await this.tx.query(
        `SELECT setval('${name}', coalesce(max("${column}"), 1), max("${column}") IS NOT NULL) FROM mcp."${table}"`,
      );
    }
  }
}

async function tablesIn(tx: Tx): Promise<readonly TableShape[]> {
  const rows = await tx.query(
    `SELECT relname AS name,
       ARRAY(SELECT attname::text FROM pg_attribute
         WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum) AS columns,
       ARRAY(SELECT attname::text FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = ANY (indkey)
         WHERE indrelid = c.oid AND indisprimary ORDER BY array_position(indkey::int2[], attnum)) AS key,
       ARRAY(SELECT relname::text FROM pg_constraint JOIN pg_class ON pg_class.oid = confrelid
         WHERE conrelid = c.oid AND contype = 'f') AS "refersTo"
     FROM pg_class c WHERE relnamespace = 'mcp'::regnamespace AND relkind = 'r' ORDER BY relname`,
  );
  const tables = shapes.parse(rows).filter(({ name }) => !LEFT_OUT.has(name));
  return inOrderOfReferences(tables);
}

async function addRows(
  tx: Tx,
  { name, columns, key }: TableShape,
  add: (part: BackupPart) => Promise<void>,
  last?: readonly string[],
): Promise<void> {
  await add({ kind: 'table', table: name, columns });
  if (last?.length === 0) return;
  const list = columns.map((column) => `"${column}"`).join(', ');
  const ids = key.map((column) => `"${column}"`).join(', ');
  const place = (from: number): string => key.map((_, i) => `$${from + i}`).join(', ');
  for (let after: readonly string[] | undefined; ;) {
    const bounds = [
      ...(after ? [`(${ids}) > (${place(1)})`] : []),
      ...(last ? [`(${ids}) <= (${place(1 + (after?.length ?? 0))})`] : []),
    ];
    const page = pageRows.parse(
      await tx.query(
        `SELECT row_to_json(found)::text AS row, ${keyTexts(key)} AS key
         FROM (SELECT ${list} FROM mcp."${name}"
           ${bounds.length > 0 ? `WHERE ${bounds.join(' AND ')}` : ''} ORDER BY ${ids} LIMIT ${ROWS_PER_PAGE}) AS found`,
        [...(after ?? []), ...(last ?? [])],
      ),
    );
    for (const { row } of page) await add({ kind: 'row', text: row });
    if (page.length < ROWS_PER_PAGE) return;
    after = page.at(-1)?.key;
  }
}

/** Of the last row; empty without rows. */
async function lastKey(tx: Tx, { name, key }: TableShape): Promise<readonly string[]> {
  const order = key.map((column) => `"${column}" DESC`).join(', ');
  const rows = await tx.query(
    `SELECT '' AS row, ${keyTexts(key)} AS key FROM mcp."${name}" ORDER BY ${order} LIMIT 1`,
  );
  return pageRows.parse(rows)[0]?.key ?? [];
}

function keyTexts(key: readonly string[]): string {
  return `ARRAY[${key.map((column) => `"${column}"::text`).join(', ')}]`;
}
