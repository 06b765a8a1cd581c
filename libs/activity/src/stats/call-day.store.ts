import { Injectable } from '@nestjs/common';
import { Database } from '@app/platform';
import type { CallDay } from './call-days.js';
import { type Latency, newLatency } from './latency.js';

const ROWS_PER_STATEMENT = 500;
const ROWS_PER_DELETE = 5_000;

/** The row of a server with the calls of all its tools. */
const ALL_TOOLS = '';

export interface DayFilter {
  /** Days since the epoch. */
  readonly fromDay: number;
  readonly serverId: string | undefined;
}

/** The calls of a server, or of one of its tools, on one day. */
export interface StoredDay {
  readonly day: number;
  readonly serverId: string;
  /** Null for all of its tools. */
  readonly tool: string | null;
  readonly calls: number;
  readonly errors: number;
  readonly latency: Latency;
}

interface DayRow {
  readonly day: number;
  readonly server_id: string;
  readonly tool: string;
  readonly calls: string;
  readonly errors: string;
  readonly latency: readonly string[];
}

const COLUMNS = `day - date '1970-01-01' AS day, server_id, tool, calls, errors, latency`;

/** The rows of `mcp.call_days`: calls of every replica, by tool and day (UTC), and by server and day. */
@Injectable()
export class CallDayStore {
  constructor(private readonly database: Database) {}

  /** Adds to what was counted before, by any replica. All or none. */
  async add(days: readonly CallDay[]): Promise<void> {
    const all = [...days, ...ofServers(days)];
    await this.database.background.transaction(async (tx) => {
      for (let start = 0; start < all.length; start += ROWS_PER_STATEMENT) {
        const rows = all.slice(start, start + ROWS_PER_STATEMENT).map(rowOf);
        // In one order, so that replicas do not wait for each other in a circle.
        await tx.query(
          `INSERT INTO mcp.call_days (day, server_id, tool, calls, errors, latency)
           SELECT date '1970-01-01' + day, server_id, tool, calls, errors, latency
           FROM jsonb_to_recordset($1::jsonb) AS given
             (day int, server_id uuid, tool varchar, calls bigint, errors bigint, latency bigint[])
           ORDER BY 1, 2, 3
           ON CONFLICT (day, server_id, tool) DO UPDATE SET
             calls = call_days.calls + excluded.calls,
             errors = call_days.errors + excluded.errors,
             latency = (SELECT array_agg(before + more ORDER BY bucket)
               FROM unnest(call_days.latency, excluded.latency) WITH ORDINALITY AS u (before, more, bucket))`,
          [JSON.stringify(rows)],
        );
      }
    });
  }

  async ofServers({ fromDay, serverId }: DayFilter): Promise<readonly StoredDay[]> {
    const rows = await this.database.direct.query<DayRow[]>(
      `SELECT ${COLUMNS} FROM mcp.call_days
       WHERE tool = '' AND day >= date '1970-01-01' + $1::int AND ($2::uuid IS NULL OR server_id = $2)`,
      [fromDay, serverId ?? null],
    );
    return rows.map(dayOf);
  }

  /** Of the tools that were called most, at most so many; and how many were called at all. */
  async ofTools(
    { fromDay, serverId }: DayFilter,
    tool: string | undefined,
    most: number,
  ): Promise<{ readonly days: readonly StoredDay[]; readonly tools: number }> {
    const rows = await this.database.direct.query<(DayRow & { readonly tools: number })[]>(
      `WITH most_called AS (
         SELECT server_id, tool, (count(*) OVER ())::int AS tools FROM mcp.call_days
         WHERE tool <> '' AND day >= date '1970-01-01' + $1::int
           AND ($2::uuid IS NULL OR server_id = $2) AND ($3::varchar IS NULL OR tool = $3)
         GROUP BY server_id, tool ORDER BY sum(calls) DESC, server_id, tool LIMIT $4)
       SELECT ${COLUMNS}, tools FROM mcp.call_days JOIN most_called USING (server_id, tool)
       WHERE day >= date '1970-01-01' + $1::int`,
      [fromDay, serverId ?? null, tool ?? null, most],
    );
    return { days: rows.map(dayOf), tools: rows[0]?.tools ?? 0 };
  }

  /** By the database's clock. */
  async forgetOlderThan(days: number): Promise<void> {
    for (;;) {
      const [, deleted] = await this.database.background.direct.query<[unknown, number]>(
        `DELETE FROM mcp.call_days WHERE (day, server_id, tool) IN
           (SELECT day, server_id, tool FROM mcp.call_days
            WHERE day < (now() AT TIME ZONE 'UTC')::date - $1::int LIMIT $2)`,
        [days, ROWS_PER_DELETE],
      );
      if (deleted < ROWS_PER_DELETE) return;
    }
  }

  async forgetServer(serverId: string): Promise<void> {
    await this.database.background.direct.query('DELETE FROM mcp.call_days WHERE server_id = $1', [
      serverId,
    ]);
  }
}

/** Sums of the tools of a server. */
export function ofServers(days: readonly CallDay[]): readonly CallDay[] {
  const sums = new Map<string, CallDay>();
  for (const { day, serverId, calls, errors, latency } of days) {
    const key = `${day} ${serverId}`;
    let sum = sums.get(key);
    if (!sum) {
      sum = { day, serverId, tool: ALL_TOOLS, calls: 0, errors: 0, latency: newLatency() };
      sums.set(key, sum);
    }
    sum.calls += calls;
    sum.errors += errors;
    for (const [bucket, count] of latency.entries()) {
      sum.latency[bucket] = (sum.latency[bucket] ?? 0) + count;
    }
  }
  return [...sums.values()];
}

function rowOf({ day, serverId, tool, calls, errors, latency }: CallDay): object {
  return { day, server_id: serverId, tool, calls, errors, latency: [...latency] };
}

function dayOf(row: DayRow): StoredDay {
  return {
    day: row.day,
    serverId: row.server_id,
    tool: row.tool === ALL_TOOLS ? null : row.tool,
    calls: Number(row.calls),
    errors: Number(row.errors),
    latency: Uint32Array.from(row.latency, Number),
  };
}
