import { useVirtualizer } from '@tanstack/react-virtual';
import {
  memo,
  type ReactNode,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { texts } from '../texts/index.js';
import { classNames } from './class-names.js';
import { Checkbox } from './field.js';
import { useListKeys } from './list-keys.js';
import { useMediaQuery } from './media-query.js';

export interface Column<Row> {
  readonly id: string;
  readonly head: ReactNode;
  readonly cell: (row: Row) => ReactNode;
  /** A track of a CSS grid, such as `minmax(160px, 2fr)` or `80px`. */
  readonly width: string;
  readonly align?: 'end';
  /** On a narrow screen: the first line (the default of the first column), its end, the second line, or not at all. */
  readonly narrow?: 'first' | 'end' | 'second' | 'hidden';
  /** On a narrow screen instead of `cell`. */
  readonly narrowCell?: (row: Row) => ReactNode;
  /** Clicking the head sorts by this column. */
  readonly isSortable?: boolean;
}

export interface Sorting {
  readonly column: string;
  readonly direction: 'asc' | 'desc';
}

export interface Selection {
  readonly ids: ReadonlySet<string>;
  readonly onChange: (ids: ReadonlySet<string>) => void;
}

export interface RowGroup<Row> {
  readonly id: string;
  readonly label: ReactNode;
  readonly rows: readonly Row[];
}

interface DataTableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  /** Rows under heads; a table without groups has one whose label is empty. */
  readonly groups: readonly RowGroup<Row>[];
  readonly idOf: (row: Row) => string;
  readonly nameOf: (row: Row) => string;
  readonly onOpen?: (row: Row) => void;
  readonly selection?: Selection;
  readonly sorting?: { readonly value: Sorting; readonly onChange: (value: Sorting) => void };
  /** Rows of two lines. */
  readonly isTall?: boolean;
  /** The row that is shown elsewhere on the page. */
  readonly currentId?: string | undefined;
}

type Item<Row> =
  | { readonly kind: 'group'; readonly group: RowGroup<Row> }
  | { readonly kind: 'row'; readonly row: Row; readonly index: number };

const GROUP_PX = 32;

function itemsOf<Row>(groups: readonly RowGroup<Row>[]): Item<Row>[] {
  let index = 0;
  return groups.flatMap((group): Item<Row>[] => [
    ...(group.label === '' ? [] : [{ kind: 'group' as const, group }]),
    ...group.rows.map((row) => ({ kind: 'row' as const, row, index: index++ })),
  ]);
}

/**
 * A table whose rows are in the document only while they are visible, so that 10,000 of them scroll like ten. It scrolls
 * with the page (`#page`). `J` and `K` move the cursor, `Enter` opens, `X` selects.
 */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, groups, idOf, nameOf, onOpen, selection, sorting, currentId } = props;
  const isNarrow = useMediaQuery('(max-width: 639px)');
  const body = useRef<HTMLDivElement>(null);
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => {
    const page = document.getElementById('page');
    if (!body.current || !page) return;
    const top = body.current.getBoundingClientRect().top - page.getBoundingClientRect().top;
    setOffset(top + page.scrollTop);
  }, [groups]);
  const items = useMemo(() => itemsOf(groups), [groups]);
  const rows = useMemo(() => groups.flatMap((group) => group.rows), [groups]);
  const rowPx = props.isTall || isNarrow ? 48 : 32;
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => document.getElementById('page'),
    estimateSize: (at) => (items[at]?.kind === 'group' ? GROUP_PX : rowPx),
    scrollMargin: offset,
    overscan: 12,
  });
  // The virtualizer remembers heights by position, and a head may now stand where a row stood.
  const heights = `${rowPx} ${groups.map((group) => `${group.label === ''} ${group.rows.length}`).join()}`;
  useLayoutEffect(() => {
    virtual.measure();
  }, [virtual, heights]);
  const { open, toggle } = useRowActions(props);
  const cursor = useListKeys({
    count: rows.length,
    onMove: (to) => {
      const at = items.findIndex((item) => item.kind === 'row' && item.index === to);
      if (at >= 0) virtual.scrollToIndex(at);
    },
    onOpen: (at) => rows[at] !== undefined && onOpen?.(rows[at]),
    onSelect: (at) => rows[at] !== undefined && toggle(idOf(rows[at])),
  });
  const tracks = [selection && '32px', ...columns.map(({ width }) => width)]
    .filter(Boolean)
    .join(' ');
  const head: HeadProps<Row> = {
    columns,
    tracks,
    sorting,
    selection,
    count: rows.length,
    allIds: () => rows.map(idOf),
  };
  return (
    <div role="table" aria-label={label} aria-rowcount={rows.length} className="min-w-0">
      {!isNarrow && <TableHead {...head} />}
      <div
        ref={body}
        role="rowgroup"
        className="relative"
        style={{ height: virtual.getTotalSize() }}
      >
        {virtual.getVirtualItems().map(({ index, start, key }) => {
          const item = items[index];
          if (!item) return null;
          const top = start - offset;
          if (item.kind === 'group')
            return (
              <GroupHead
                key={key}
                label={item.group.label}
                count={item.group.rows.length}
                top={top}
              />
            );
          const id = idOf(item.row);
          return (
            <MemoRow
              key={id}
              id={id}
              row={item.row}
              columns={columns}
              tracks={tracks}
              top={top}
              height={rowPx}
              isNarrow={isNarrow}
              isAtCursor={item.index === cursor}
              isCurrent={id === currentId}
              isSelected={selection?.ids.has(id)}
              name={nameOf(item.row)}
              onOpen={onOpen && open}
              onSelect={selection && toggle}
            />
          );
        })}
      </div>
    </div>
  );
}

/** The same functions at every rendering, so that rows that stay the same are not rendered again. */
function useRowActions<Row>(props: DataTableProps<Row>) {
  const newest = useRef(props);
  useEffect(() => {
    newest.current = props;
  });
  const open = useCallback((row: Row) => newest.current.onOpen?.(row), []);
  const toggle = useCallback((id: string) => {
    const { selection } = newest.current;
    if (!selection) return;
    const ids = new Set(selection.ids);
    if (!ids.delete(id)) ids.add(id);
    selection.onChange(ids);
  }, []);
  return { open, toggle };
}

interface HeadProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly tracks: string;
  readonly sorting: DataTableProps<Row>['sorting'];
  readonly selection: Selection | undefined;
  readonly count: number;
  readonly allIds: () => readonly string[];
}

function TableHead<Row>(props: HeadProps<Row>) {
  const { columns, tracks, sorting, selection, count, allIds } = props;
  const chosen = selection?.ids.size ?? 0;
  return (
    <div
      role="row"
      className="border-line bg-page text-text-2 sticky top-0 z-10 grid h-8 items-center gap-4 border-b px-5 text-small"
      style={{ gridTemplateColumns: tracks }}
    >
      {selection && (
        <span role="columnheader" className="flex">
          <Checkbox
            aria-label={texts.common.selected(chosen)}
            checked={chosen > 0 && chosen >= count}
            indeterminate={chosen > 0 && chosen < count}
            onChange={() => selection.onChange(new Set(chosen > 0 ? [] : allIds()))}
          />
        </span>
      )}
      {columns.map((column) => (
        <ColumnHead key={column.id} column={column} sorting={sorting} />
      ))}
    </div>
  );
}

interface ColumnHeadProps<Row> {
  readonly column: Column<Row>;
  readonly sorting: DataTableProps<Row>['sorting'];
}

function ColumnHead<Row>({ column, sorting }: ColumnHeadProps<Row>) {
  const { id, head, align, isSortable } = column;
  const direction = sorting?.value.column === id ? sorting.value.direction : undefined;
  const other = direction === 'asc' ? 'desc' : 'asc';
  return (
    <span
      role="columnheader"
      aria-sort={
        direction === undefined ? undefined : direction === 'asc' ? 'ascending' : 'descending'
      }
      className={classNames('truncate', align === 'end' && 'text-right')}
    >
      {isSortable && sorting ? (
        <button
          type="button"
          className="hover:text-text"
          onClick={() => sorting.onChange({ column: id, direction: other })}
        >
          {head}
          {direction !== undefined && <span aria-hidden>{direction === 'asc' ? ' ↑' : ' ↓'}</span>}
        </button>
      ) : (
        head
      )}
    </span>
  );
}

interface GroupHeadProps {
  readonly label: ReactNode;
  readonly count: number;
  readonly top: number;
}

function GroupHead({ label, count, top }: GroupHeadProps) {
  return (
    <div
      role="row"
      style={{ transform: `translateY(${top}px)` }}
      className="border-line bg-inset absolute inset-x-0 flex h-8 items-center border-b px-5 text-small"
    >
      <span role="rowheader" className="font-medium">
        {label}
      </span>
      <span className="text-text-3 ml-2">{count}</span>
    </div>
  );
}

interface RowProps<Row> {
  readonly id: string;
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
  readonly tracks: string;
  readonly top: number;
  readonly height: number;
  readonly isNarrow: boolean;
  readonly isAtCursor: boolean;
  readonly isCurrent: boolean;
  readonly isSelected: boolean | undefined;
  readonly name: string;
  readonly onOpen: ((row: Row) => void) | undefined;
  readonly onSelect: ((id: string) => void) | undefined;
}

/** A click on a control inside the row is not a click on the row. */
function isOnControl(target: EventTarget): boolean {
  return target instanceof Element && target.closest('a, button, input, select, label') !== null;
}

function TableRow<Row>(props: RowProps<Row>) {
  const { id, row, columns, tracks, top, height, isNarrow, isSelected, name, onOpen, onSelect } =
    props;
  return (
    <div
      role="row"
      aria-selected={isSelected}
      style={{
        transform: `translateY(${top}px)`,
        height,
        ...(!isNarrow && { gridTemplateColumns: tracks }),
      }}
      onClick={(event) => !isOnControl(event.target) && onOpen?.(row)}
      className={classNames(
        'border-line absolute inset-x-0 items-center gap-4 border-b px-5',
        isNarrow ? 'flex' : 'grid',
        onOpen && 'cursor-pointer',
        isSelected || props.isCurrent ? 'bg-accent-weak' : onOpen && 'hover:bg-hover',
        props.isAtCursor && 'shadow-[inset_2px_0_0_var(--accent)]',
      )}
    >
      {onSelect && (
        <span role="cell" className="flex">
          <Checkbox aria-label={name} checked={isSelected === true} onChange={() => onSelect(id)} />
        </span>
      )}
      {isNarrow ? (
        <NarrowCells row={row} columns={columns} />
      ) : (
        columns.map(({ id: column, cell, align }) => (
          <span
            key={column}
            role="cell"
            className={classNames('min-w-0 truncate', align === 'end' && 'text-right')}
          >
            {cell(row)}
          </span>
        ))
      )}
    </div>
  );
}

/** Scrolling renders the table at every frame; a row only when something of it changed. */
const MemoRow = memo(TableRow) as typeof TableRow;

/** Two lines: what names the row and its most important figure, then the rest that matters. */
function NarrowCells<Row>({
  row,
  columns,
}: {
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
}) {
  const placed = columns.map((column, at) => ({
    column,
    place: column.narrow ?? (at === 0 ? 'first' : 'hidden'),
  }));
  const cells = (place: string): ReactNode =>
    placed
      .filter((one) => one.place === place)
      .map(({ column: { id, cell, narrowCell = cell } }) => (
        <span key={id} className="min-w-0 truncate">
          {narrowCell(row)}
        </span>
      ));
  return (
    <span role="cell" className="flex min-w-0 grow items-center gap-3">
      <span className="min-w-0 grow">
        <span className="block truncate">{cells('first')}</span>
        <span className="text-text-2 flex gap-2 truncate text-small">{cells('second')}</span>
      </span>
      <span className="shrink-0 text-right">{cells('end')}</span>
    </span>
  );
}
