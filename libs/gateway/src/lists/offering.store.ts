import { Injectable } from '@nestjs/common';
import { Database, isForeignKeyViolation, Replicas, type Tx } from '@app/platform';
import { OFFERED_KINDS, type OfferedKind } from './offered-list.js';
import type { PageItem } from './paging.js';

/** Message to other replicas; ids are server ids. */
export const OFFERINGS_CHANGED = 'offerings';
/** The embedded database blocks the event loop while it reads or writes one part. */
const PART_CHARS = 131_072;
const PARTS_PER_READ = 4;
/** Stored like a list; versions that do not know this kind skip it. */
const INSTRUCTIONS = 'instructions';
/** Names of prompts that wait for approval, so that every replica knows them. */
export const WITHHELD_PROMPTS = 'withheldPrompts';

export type StoredKind = OfferedKind | typeof WITHHELD_PROMPTS;
const STORED_KINDS: readonly StoredKind[] = [...OFFERED_KINDS, WITHHELD_PROMPTS];

export interface StoredPart {
  readonly serverId: string;
  readonly kind: StoredKind;
  /** JSON texts. */
  readonly definitions: readonly string[];
}

/** The lists that servers returned last, as rows. */
@Injectable()
export class OfferingStore {
  constructor(
    private readonly database: Database,
    private readonly replicas: Replicas,
  ) {}

  /** Yields the parts of each list in sequence, for all servers or the given ones. */
  async *load(serverIds?: readonly string[]): AsyncGenerator<StoredPart> {
    const all = await this.database.background.direct.query<
      { server: string; kind: string; part: number }[]
    >(
      `SELECT server_id AS server, kind, part FROM mcp.server_offerings
       WHERE $1::uuid[] IS NULL OR server_id = ANY($1::uuid[]) ORDER BY 1, 2, 3`,
      [serverIds ?? null],
    );
    for (let start = 0; start < all.length; start += PARTS_PER_READ) {
      const some = all.slice(start, start + PARTS_PER_READ);
      const rows = await this.database.background.direct.query<
        { server: string; kind: string; items: string }[]
      >(
        `SELECT server_id AS server, kind, items FROM mcp.server_offerings
         JOIN unnest($1::uuid[], $2::text[], $3::int[]) AS wanted (s, k, p)
           ON server_id = s AND kind = k AND part = p ORDER BY server_id, kind, part`,
        [
          some.map(({ server }) => server),
          some.map(({ kind }) => kind),
          some.map(({ part }) => part),
        ],
      );
      for (const { server: serverId, kind: name, items } of rows) {
        const kind = STORED_KINDS.find((known) => known === name);
        if (kind) yield { serverId, kind, definitions: items === '' ? [] : items.split('\n') };
      }
    }
  }

  /**
   * Replaces one list; undefined deletes it, for a server without the capability. Does nothing for a removed
   * server.
   */
  async write(
    serverId: string,
    kind: OfferedKind,
    items: readonly PageItem[] | undefined,
  ): Promise<void> {
    try {
      await this.database.background.transaction((tx) => this.replace(serverId, kind, items, tx));
    } catch (error) {
      if (!isForeignKeyViolation(error)) throw error;
      return; // removed in the meantime
    }
    await this.replicas.tell(OFFERINGS_CHANGED, [serverId]);
  }

  /** Of all servers or the given ones; empty for a server without instructions. */
  async loadInstructions(serverIds?: readonly string[]): Promise<Map<string, string>> {
    const rows = await this.database.background.direct.query<{ server: string; items: string }[]>(
      `SELECT server_id AS server, items FROM mcp.server_offerings
       WHERE kind = '${INSTRUCTIONS}' AND ($1::uuid[] IS NULL OR server_id = ANY($1::uuid[]))`,
      [serverIds ?? null],
    );
    return new Map(rows.map(({ server, items }) => [server, items]));
  }

  /** Empty for a server without instructions; undefined if none were ever offered, or while they are withheld. */
  async instructionsOf(serverId: string, tx: Tx): Promise<string | undefined> {
    const rows = await tx.query<{ items: string }[]>(
      `SELECT items FROM mcp.server_offerings WHERE server_id = $1 AND kind = '${INSTRUCTIONS}'`,
      [serverId],
    );
    return rows[0]?.items;
  }

  /** Undefined deletes them. */
  async replaceInstructions(serverId: string, text: string | undefined, tx: Tx): Promise<void> {
    await tx.query(
      text === undefined
        ? `DELETE FROM mcp.server_offerings WHERE server_id = $1 AND kind = '${INSTRUCTIONS}'`
        : `INSERT INTO mcp.server_offerings (server_id, kind, part, items) VALUES ($1, '${INSTRUCTIONS}', 0, $2)
           ON CONFLICT (server_id, kind, part) DO UPDATE SET items = excluded.items`,
      text === undefined ? [serverId] : [serverId, text],
    );
  }

  /** JSON texts of a list; undefined for a list that was never stored. */
  async itemsOf(serverId: string, kind: StoredKind, tx: Tx): Promise<string[] | undefined> {
    const rows = await tx.query<{ items: string }[]>(
      `SELECT items FROM mcp.server_offerings WHERE server_id = $1 AND kind = $2 ORDER BY part`,
      [serverId, kind],
    );
    if (rows.length === 0) return undefined;
    return rows.flatMap(({ items }) => (items === '' ? [] : items.split('\n')));
  }

  /** Tells other replicas of what the transaction wrote, when it commits. */
  tellIn(tx: Tx, serverId: string): Promise<void> {
    return this.replicas.tellIn(tx, OFFERINGS_CHANGED, [serverId]);
  }

  async replace(
    serverId: string,
    kind: StoredKind,
    items: readonly Pick<PageItem, 'json'>[] | undefined,
    tx: Tx,
  ): Promise<void> {
    await tx.query('DELETE FROM mcp.server_offerings WHERE server_id = $1 AND kind = $2', [
      serverId,
      kind,
    ]);
    for (const [part, text] of items ? partsOf(items).entries() : []) {
      await tx.query(
        'INSERT INTO mcp.server_offerings (server_id, kind, part, items) VALUES ($1, $2, $3, $4)',
        [serverId, kind, part, text],
      );
    }
  }
}

function partsOf(items: readonly Pick<PageItem, 'json'>[]): string[] {
  const parts: string[] = [];
  let lines: string[] = [];
  let chars = 0;
  for (const { json } of items) {
    if (lines.length > 0 && chars + json.length > PART_CHARS) {
      parts.push(lines.join('\n'));
      lines = [];
      chars = 0;
    }
    lines.push(json);
    chars += json.length;
  }
  return [...parts, lines.join('\n')];
}
