import { Injectable } from '@nestjs/common';
import { Database, type Tx } from '@app/platform';
import { CredentialVault, UnreadableCredentials } from '@app/registry';
import { type RoomLimits, whoseGoes } from './room.js';

export interface ResultToKeep {
  readonly id: string;
  readonly owner: string;
  readonly bytes: number;
  readonly pages: number;
  readonly keptAt: Date;
  readonly expiresAt: Date;
}

export interface KeptPage {
  readonly text: string;
  readonly pages: number;
  readonly expiresAt: Date;
}

/** The embedded database blocks the event loop while it writes one statement. */
const CHARS_PER_WRITE = 131_072;

/** Whole results of shortened answers, in encrypted pages, for their owners and for a while. */
@Injectable()
export class KeptResultStore {
  constructor(
    private readonly database: Database,
    private readonly vault: CredentialVault,
  ) {}

  /**
   * Announces a result, after removing what has expired and what exceeds the limits. False when there is no room.
   * Replicas do this one after the other, so that together they stay within the limits.
   */
  admit(result: ResultToKeep, limits: RoomLimits): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      await tx.query('LOCK TABLE mcp.kept_results IN SHARE ROW EXCLUSIVE MODE');
      await this.forgetExpired(result.keptAt, tx);
      for (;;) {
        const goes = whoseGoes(await bytesByOwner(tx), result.owner, result.bytes, limits);
        if (goes === 'full') return false;
        if (!goes) break;
        await forgetOldest(goes.owner, tx);
      }
      const { id, owner, bytes, pages, keptAt, expiresAt } = result;
      await tx.query(
        `INSERT INTO mcp.kept_results (id, owner, bytes, pages, kept_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6)`,
        [id, owner, bytes, pages, keptAt, expiresAt],
      );
      return true;
    });
  }

  /**
   * False when it gave up between two statements. Rejects with a foreign key violation when the result has been removed
   * meanwhile.
   */
  async addPages(
    id: string,
    pages: readonly Buffer[],
    mayContinue: () => boolean,
  ): Promise<boolean> {
    let numbers: number[] = [];
    let sealed: string[] = [];
    let chars = 0;
    for (const [index, page] of pages.entries()) {
      const text = JSON.stringify(this.vault.seal(page.toString(), placeOf(id, index + 1)));
      numbers.push(index + 1);
      sealed.push(text);
      chars += text.length;
      if (chars < CHARS_PER_WRITE && index < pages.length - 1) continue;
      if (!mayContinue()) return false;
      await this.database.direct.query(
        `INSERT INTO mcp.kept_result_pages (result_id, page, sealed)
         SELECT $1, page, sealed::jsonb FROM unnest($2::int[], $3::text[]) AS written (page, sealed)`,
        [id, numbers, sealed],
      );
      [numbers, sealed, chars] = [[], [], 0];
    }
    return true;
  }

  /** Undefined also for the result of another owner, and for one that has expired. */
  async page(id: string, owner: string, page: number, now: Date): Promise<KeptPage | undefined> {
    const [row] = await this.database.direct.query<
      { pages: number; expires_at: Date | string; sealed: unknown }[]
    >(
      `SELECT pages, expires_at, sealed FROM mcp.kept_results
       JOIN mcp.kept_result_pages ON result_id = id
       WHERE id = $1 AND owner = $2 AND page = $3 AND expires_at > $4`,
      [id, owner, page, now],
    );
    if (!row) return undefined;
    const text = this.opened(row.sealed, placeOf(id, page));
    return text === undefined
      ? undefined
      : { text, pages: row.pages, expiresAt: new Date(row.expires_at) };
  }

  async forgetOf(owners: readonly string[]): Promise<void> {
    await this.database.direct.query('DELETE FROM mcp.kept_results WHERE owner = ANY($1::text[])', [
      owners,
    ]);
  }

  async forgetExpired(now: Date, tx: Tx = this.database.background.direct): Promise<void> {
    await tx.query('DELETE FROM mcp.kept_results WHERE expires_at <= $1', [now]);
  }

  /** A key that was rotated out has no pages that are worth re-encrypting: they are read as expired. */
  private opened(sealed: unknown, place: ReturnType<typeof placeOf>): string | undefined {
    try {
      return this.vault.open(sealed, place);
    } catch (error) {
      if (error instanceof UnreadableCredentials) return undefined;
      throw error;
    }
  }
}

async function bytesByOwner(tx: Tx): Promise<Map<string, number>> {
  const rows = await tx.query<{ owner: string; bytes: number }[]>(
    'SELECT owner, sum(bytes)::float8 AS bytes FROM mcp.kept_results GROUP BY owner',
  );
  return new Map(rows.map(({ owner, bytes }) => [owner, bytes]));
}

async function forgetOldest(owner: string, tx: Tx): Promise<void> {
  await tx.query(
    `DELETE FROM mcp.kept_results WHERE id =
       (SELECT id FROM mcp.kept_results WHERE owner = $1 ORDER BY kept_at, id LIMIT 1)`,
    [owner],
  );
}

function placeOf(id: string, page: number): { table: string; row: string; field: string } {
  return { table: 'kept_result_pages', row: `${id} ${page}`, field: 'sealed' };
}
