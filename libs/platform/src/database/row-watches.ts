import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { CoalescedRuns } from '../work/coalesced-runs.js';
import { Upkeep } from './connections/upkeep.js';
import { Database } from './database.js';
import { DatabaseUnavailable } from './failures/database.errors.js';

/** Shorter than an idle connection is kept open, so that a look opens none. */
const LOOK_EVERY_MS = 15_000;

/** Rows that a process holds in memory, which another process may have changed without being heard. */
export interface RowWatch {
  /** A SQL expression of one text, which differs after a change of the rows (`rowsMark`, `writesMark`). */
  readonly mark: string;
  /** Called at every look; others wait meanwhile. */
  readonly look: (mark: string) => Promise<unknown>;
  readonly failed: (error: unknown) => void;
}

/**
 * Finds changes whose notification was lost. One statement reads the marks of all rows, so that an idle replica costs
 * one transaction for all of its comparisons.
 */
@Injectable()
export class RowWatches {
  private readonly watches: RowWatch[] = [];
  private readonly runs = new CoalescedRuns();

  constructor(
    private readonly database: Database,
    private readonly upkeep: Upkeep,
  ) {}

  add(watch: RowWatch): void {
    this.watches.push(watch);
  }

  @Interval(LOOK_EVERY_MS)
  look(): Promise<void> {
    return this.runs.run('look', () => this.lookAtAll());
  }

  private async lookAtAll(): Promise<void> {
    try {
      const marks = await this.upkeep.run(() => this.marksOf(this.watches));
      for (const [index, watch] of this.watches.entries()) {
        await this.tell(watch, marks[index] ?? '');
      }
    } catch (error) {
      if (error instanceof DatabaseUnavailable && error.trouble === 'unreachable') return;
      await this.lookAtEach();
    }
  }

  /** A table that is locked must not keep others from being compared. */
  private async lookAtEach(): Promise<void> {
    for (const watch of this.watches) {
      try {
        const [mark = ''] = await this.upkeep.run(() => this.marksOf([watch]));
        await this.tell(watch, mark);
      } catch (error) {
        watch.failed(error);
      }
    }
  }

  private async tell({ look, failed }: RowWatch, mark: string): Promise<void> {
    try {
      await this.upkeep.run(() => look(mark));
    } catch (error) {
      failed(error);
    }
  }

  private async marksOf(watches: readonly RowWatch[]): Promise<readonly string[]> {
    if (watches.length === 0) return [];
    const marks = watches.map(({ mark }) => `coalesce((${mark})::text, '')`).join(', ');
    const [row] = await this.database.background.direct.query<{ marks: string[] }[]>(
      `SELECT ARRAY[${marks}] AS marks`,
    );
    return row?.marks ?? [];
  }
}

/** For `look`: works when the mark differs from the one of the last success. */
export function whenChanged(work: () => Promise<unknown>): RowWatch['look'] {
  let seen: string | undefined;
  return async (mark) => {
    if (mark === seen) return;
    await work();
    seen = mark;
  };
}

/** Of a table of few rows: differs after every write, also of a value that it had before. */
export function rowsMark(table: string): string {
  return `SELECT md5(string_agg(concat_ws(' ', ctid, xmin), ',' ORDER BY ctid)) FROM ${table}`;
}

/**
 * Of a large table, by PostgreSQL's own statistics, so that it need not be read. Recent writes may be counted up to a
 * minute late.
 */
export function writesMark(table: string): string {
  return `SELECT CASE WHEN current_setting('track_counts')::boolean
      THEN concat_ws(' ', pg_stat_get_tuples_inserted(id), pg_stat_get_tuples_updated(id), pg_stat_get_tuples_deleted(id))
      ELSE clock_timestamp()::text END
    FROM (SELECT '${table}'::regclass::oid AS id) AS named`;
}
