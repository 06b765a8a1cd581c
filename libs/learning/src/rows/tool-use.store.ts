import { Injectable } from '@nestjs/common';
import { Database, isForeignKeyViolation, Replicas, type Tx, writesMark } from '@app/platform';
import { bytesOf, vectorIn } from '@app/vectors';
import { added, faded, type Uses } from './uses.js';

/** Topic of messages between replicas; the ids are those of `keyOf`. */
export const USES_CHANGED = 'learning.uses';

/** For `RowWatches`. */
export const USES_MARK = writesMark('mcp.tool_uses');

/** A tool as one view offers it: its uses there change what no other view finds. */
export interface LearntTool {
  readonly viewId: string;
  readonly toolId: number;
}

/** What one caller used a tool for. */
export interface CallerUses extends LearntTool {
  readonly caller: string;
  readonly uses: Uses;
}

export interface StoredUses extends LearntTool {
  readonly caller: string;
  /** As of now. */
  readonly uses: Uses;
}

interface Row {
  readonly view_id: string;
  readonly tool_id: number;
  readonly caller: string;
  readonly model: string;
  readonly uses: number;
  readonly mean: Buffer;
  readonly used_at: Date;
}

/** The texts of the tools of a page are embedded at once: few milliseconds. */
const ROWS_PER_PAGE = 250;
/** Of 45 bytes. */
const KEYS_PER_MESSAGE = 100;
const COLUMNS = 'view_id, tool_id, caller, model, uses, mean, used_at';

/** The rows of `mcp.tool_uses`, deleted with their tool or view (ON DELETE CASCADE). */
@Injectable()
export class ToolUseStore {
  constructor(
    private readonly database: Database,
    private readonly replicas: Replicas,
  ) {}

  async writes(): Promise<string> {
    const { direct } = this.database.background;
    const [row] = await direct.query<{ writes: string }[]>(`SELECT (${USES_MARK}) AS writes`);
    return row?.writes ?? '';
  }

  /** Adds uses, one entry per key, and tells the other replicas. Skips tools and views that have been removed. */
  async add(model: string, all: readonly CallerUses[], now: Date): Promise<void> {
    if (all.length === 0) return;
    // In one order, so that replicas do not wait for each other in a circle.
    const ordered = all.toSorted((a, b) => (rowKey(a) < rowKey(b) ? -1 : 1));
    try {
      await this.database.background.transaction((tx) => this.write(tx, model, ordered, now));
    } catch (error) {
      if (!isForeignKeyViolation(error)) throw error;
      const half = Math.ceil(ordered.length / 2);
      if (half === ordered.length) return; // the one that is gone
      await this.add(model, ordered.slice(0, half), now);
      await this.add(model, ordered.slice(half), now);
    }
  }

  private async write(tx: Tx, model: string, all: readonly CallerUses[], now: Date): Promise<void> {
    const keys = [
      all.map(({ viewId }) => viewId),
      all.map(({ toolId }) => toolId),
      all.map(({ caller }) => caller),
    ];
    // Without a row there is nothing to lock, and of two replicas one would overwrite what the other adds.
    await tx.query(
      `INSERT INTO mcp.tool_uses (${COLUMNS})
       SELECT view_id, tool_id, caller, $4, 0, '', $5
       FROM unnest($1::uuid[], $2::int[], $3::text[]) AS new (view_id, tool_id, caller)
       ORDER BY 1, 2, 3
       ON CONFLICT (view_id, tool_id, caller) DO NOTHING`,
      [...keys, model, now],
    );
    const rows = await tx.query<Row[]>(
      `SELECT ${COLUMNS} FROM mcp.tool_uses
       WHERE (view_id, tool_id, caller) IN (SELECT * FROM unnest($1::uuid[], $2::int[], $3::text[]))
       ORDER BY view_id, tool_id, caller FOR UPDATE`,
      keys,
    );
    const before = new Map(rows.map((row) => [rowKey(toKey(row)), usesOf(row, model, now)]));
    const after = all.map((one) => added(before.get(rowKey(one)), one.uses));
    await tx.query(
      `UPDATE mcp.tool_uses AS old SET uses = new.uses, mean = decode(new.mean, 'base64'), model = $6, used_at = $7
       FROM unnest($1::uuid[], $2::int[], $3::text[], $4::real[], $5::text[])
         AS new (view_id, tool_id, caller, uses, mean)
       WHERE old.view_id = new.view_id AND old.tool_id = new.tool_id AND old.caller = new.caller`,
      [
        ...keys,
        after.map(({ count }) => count),
        after.map(({ mean }) => bytesOf(mean).toString('base64')),
        model,
        now,
      ],
    );
    await this.tell(tx, all);
  }

  /** All callers' uses of these tools, by view, tool and caller; of all tools without `tools`. */
  async *read(
    model: string,
    now: Date,
    tools?: readonly LearntTool[],
  ): AsyncGenerator<readonly StoredUses[]> {
    const some = tools && [tools.map(({ viewId }) => viewId), tools.map(({ toolId }) => toolId)];
    let last: Row | undefined;
    do {
      const rows: readonly Row[] = await this.database.background.direct.query<Row[]>(
        `SELECT ${COLUMNS} FROM mcp.tool_uses
         WHERE ($1::uuid IS NULL OR (view_id, tool_id, caller) > ($1, $2, $3))
           AND ($4::uuid[] IS NULL OR (view_id, tool_id) IN (SELECT * FROM unnest($4::uuid[], $5::int[])))
         ORDER BY view_id, tool_id, caller LIMIT ${ROWS_PER_PAGE}`,
        [
          last?.view_id ?? null,
          last?.tool_id ?? null,
          last?.caller ?? null,
          some?.[0] ?? null,
          some?.[1] ?? null,
        ],
      );
      yield rows.flatMap((row) => {
        const uses = usesOf(row, model, now);
        return uses ? [{ ...toKey(row), uses }] : [];
      });
      last = rows.length === ROWS_PER_PAGE ? rows.at(-1) : undefined;
    } while (last);
  }

  /** The views that had uses of the tool. */
  async forgetTool(toolId: number, tx: Tx): Promise<readonly LearntTool[]> {
    const [rows] = await tx.query<[{ view_id: string }[], number]>(
      'DELETE FROM mcp.tool_uses WHERE tool_id = $1 RETURNING view_id',
      [toolId],
    );
    const viewIds = new Set(rows.map((row) => row.view_id));
    const tools = [...viewIds].map((viewId) => ({ viewId, toolId }));
    await this.tell(tx, tools);
    return tools;
  }

  /** In parts: a notification has a limit, and without ids the others would read all rows. */
  private async tell(tx: Tx, tools: readonly LearntTool[]): Promise<void> {
    const keys = [...new Set(tools.map(keyOf))];
    for (let start = 0; start < keys.length; start += KEYS_PER_MESSAGE) {
      await this.replicas.tellIn(tx, USES_CHANGED, keys.slice(start, start + KEYS_PER_MESSAGE));
    }
  }

  /** Deletes uses from before then, and the oldest over the limits: a caller with many loses its own first. */
  async trim(before: Date, maxOfCaller: number, max: number): Promise<number> {
    const [, deleted] = await this.database.background.direct.query<[unknown, number]>(
      `DELETE FROM mcp.tool_uses WHERE used_at < $1 OR (view_id, tool_id, caller) IN (
         SELECT view_id, tool_id, caller FROM (
           SELECT view_id, tool_id, caller, place, row_number() OVER (ORDER BY place, used_at DESC) AS place_of_all
           FROM (SELECT view_id, tool_id, caller, used_at,
                   row_number() OVER (PARTITION BY caller ORDER BY used_at DESC) AS place
                 FROM mcp.tool_uses) AS placed) AS ranked
         WHERE place > $2 OR place_of_all > $3)`,
      [before, maxOfCaller, max],
    );
    return deleted;
  }
}

export function keyOf({ viewId, toolId }: LearntTool): string {
  return `${viewId} ${toolId}`;
}

/** Undefined for an id of another kind. */
export function learntToolIn(key: string): LearntTool | undefined {
  const [viewId, id] = key.split(' ');
  const toolId = Number(id);
  return viewId !== undefined && Number.isSafeInteger(toolId) ? { viewId, toolId } : undefined;
}

function rowKey({ viewId, toolId, caller }: LearntTool & { readonly caller: string }): string {
  return `${viewId} ${toolId} ${caller}`;
}

function toKey({ view_id: viewId, tool_id: toolId, caller }: Row): Omit<StoredUses, 'uses'> {
  return { viewId, toolId, caller };
}

/** Undefined for vectors of another model, and for a row that was just made. */
function usesOf(row: Row, model: string, now: Date): Uses | undefined {
  if (row.model !== model || row.mean.length === 0) return undefined;
  return faded({ count: row.uses, mean: vectorIn(row.mean) }, row.used_at, now);
}
