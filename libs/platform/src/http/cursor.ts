import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, Matches, Max } from 'class-validator';
import { InvalidInput } from '../errors/app-error.js';
import { PageQuery, PageView } from './page-query.js';

/** Maximum offset: skipped rows have to be read too. Lists are counted up to here. */
export const MAX_OFFSET = 10_000;
const MAX_CURSOR = 2_048;

/** Paging of lists that grow without bound: by the key of the last row, or by a bounded offset (contract R2). */
export class CursorQuery extends PageQuery {
  @ApiPropertyOptional({
    maxLength: MAX_CURSOR,
    description: '`next_cursor` of the previous page; replaces `offset`.',
  })
  @IsOptional()
  @Matches(new RegExp(`^[A-Za-z0-9_-]{1,${MAX_CURSOR}}$`), {
    message: 'Input should be the next_cursor of a page of this list',
  })
  readonly cursor?: string;

  @ApiPropertyOptional({ minimum: 0, maximum: MAX_OFFSET, default: 0 })
  @Max(MAX_OFFSET, {
    message: `Must be at most ${MAX_OFFSET}: to read further, pass the next_cursor of a page as cursor`,
  })
  override readonly offset: number = 0;
}

export abstract class CursorPageView extends PageView {
  @ApiProperty({
    description: `False when there are items that were not counted: more than ${MAX_OFFSET}, or too many to look through at once.`,
  })
  readonly total_is_exact!: boolean;
  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'Value of `cursor` for the next page; null on the last page. A page with filters may be shorter than `limit`, and empty, before the last.',
  })
  readonly next_cursor!: string | null;
}

/** In the form of CursorPageView. */
type PageFacts = Readonly<
  Pick<CursorPageView, 'total' | 'limit' | 'offset' | 'total_is_exact' | 'next_cursor'>
>;

/** Start of a page: after the row with this key, or after this many rows. */
export interface KeysetPage {
  readonly limit: number;
  readonly offset: number;
  readonly after: string | undefined;
}

/** Rows of a page, one more than requested when there is another page, and the number of rows up to MAX_OFFSET + 1. */
export interface KeysetRows<T> {
  readonly rows: readonly T[];
  readonly counted: number;
  /** Where the next page begins although this one is not full: only a part of the rows was looked through. */
  readonly continueAfter?: string | undefined;
  /** Only a part of the rows was counted. */
  readonly isPartlyCounted?: boolean;
}

/** The cursor of one list: opaque to callers and invalid for any other list. */
export class Cursor<T> {
  constructor(
    private readonly list: string,
    private readonly keyOf: (row: T) => string,
    private readonly isKey: (key: string) => boolean,
  ) {}

  read({ cursor, limit, offset }: CursorQuery): KeysetPage {
    if (cursor === undefined) return { limit, offset, after: undefined };
    if (offset > 0) throw refused('Pass either cursor or offset');
    const [list, ...key] = Buffer.from(cursor, 'base64url').toString().split(' ');
    const after = key.join(' ');
    if (list !== this.list || !this.isKey(after)) {
      throw refused('Input should be the next_cursor of a page of this list');
    }
    return { limit, offset, after };
  }

  /** The rows of the page and the paging fields. */
  page(
    { rows, counted, continueAfter, isPartlyCounted = false }: KeysetRows<T>,
    { limit, offset }: KeysetPage,
  ): { shown: readonly T[]; about: PageFacts } {
    const shown = rows.slice(0, limit);
    const last = rows.length > limit ? shown.at(-1) : undefined;
    return {
      shown,
      about: {
        total: Math.min(counted, MAX_OFFSET),
        total_is_exact: counted <= MAX_OFFSET && !isPartlyCounted,
        limit,
        offset,
        next_cursor: this.next(last === undefined ? continueAfter : this.keyOf(last)),
      },
    };
  }

  private next(key: string | undefined): string | null {
    return key === undefined ? null : Buffer.from(`${this.list} ${key}`).toString('base64url');
  }
}

/** Above every id of a `bigserial`. */
export const LAST_ROW_ID = '9223372036854775807';

/**
 * SQL for the rows whose `scope` columns are $1, $2, … and whose id is below the parameter after them, newest first. A
 * range over the index and not an equality: from an equality a database without statistics, such as the embedded one,
 * infers few rows, reads all and sorts them, which takes 1 to 40 s at a million rows.
 */
export function keyRange(scope: readonly string[]): {
  readonly where: string;
  readonly newestFirst: string;
} {
  const columns = [...scope, 'id'];
  const given = columns.map((_, i) => `$${i + 1}`);
  const floor = `(${scope.join(', ')}) >= (${given.slice(0, -1).join(', ')})`;
  // PostgreSQL does not infer from a row comparison that a partial index on non-null values applies.
  const bottom = scope.length > 0 ? [`${scope[0] ?? ''} IS NOT NULL`, floor] : [];
  return {
    where: [...bottom, `(${columns.join(', ')}) < (${given.join(', ')})`].join(' AND '),
    newestFirst: columns.map((column) => `${column} DESC`).join(', '),
  };
}

/** Of a `bigserial`. */
export function isRowId(key: string): boolean {
  return /^[1-9]\d{0,18}$/.test(key) && BigInt(key) <= 9_223_372_036_854_775_807n;
}

function refused(msg: string): InvalidInput {
  return new InvalidInput([{ loc: ['query', 'cursor'], msg, type: 'value_error' }]);
}
