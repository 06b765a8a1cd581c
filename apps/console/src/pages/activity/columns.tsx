import {
  Bell,
  CircleX,
  LoaderCircle,
  type LucideIcon,
  Play,
  ShieldCheck,
  ShieldX,
} from 'lucide-react';
import { texts } from '../../texts/index.js';
import { classNames } from '../../ui/class-names.js';
import type { Column } from '../../ui/data-table.js';
import { bytes, clockTime, duration, exactTime } from '../../ui/format.js';
import { ToolName } from '../../ui/tool-name.js';
import type { ActivityRow } from './rows.js';

const { activity: t } = texts;

function iconOf({ kind, isBad, isRunning }: ActivityRow): LucideIcon {
  if (isRunning) return LoaderCircle;
  if (kind === 'refusal') return ShieldX;
  if (isBad) return CircleX;
  return { call: Play, change: ShieldCheck, event: Bell }[kind];
}

function What({ row }: { readonly row: ActivityRow }) {
  const Icon = iconOf(row);
  return (
    <span className="inline-flex items-center gap-2 align-middle">
      <Icon
        size={14}
        aria-hidden
        className={classNames('shrink-0', row.isBad ? 'text-bad' : 'text-text-3')}
      />
      {row.tool !== undefined && row.kind === 'call' ? (
        <ToolName name={row.tool} />
      ) : (
        <span>
          {row.server !== undefined && <span className="font-mono text-small">{row.server} </span>}
          {row.what}
        </span>
      )}
      {row.calls > 1 && <span className="text-text-3 text-small">{t.times(row.calls)}</span>}
    </span>
  );
}

export const activityColumns: readonly Column<ActivityRow>[] = [
  {
    id: 'time',
    head: t.time,
    width: '80px',
    narrow: 'second',
    cell: ({ at }) => (
      <time dateTime={at} title={exactTime(at)} className="font-mono text-small">
        {clockTime(at)}
      </time>
    ),
  },
  {
    id: 'what',
    head: t.what,
    width: 'minmax(200px, 3fr)',
    narrow: 'first',
    cell: (row) => <What row={row} />,
  },
  {
    id: 'who',
    head: t.who,
    width: 'minmax(90px, 1fr)',
    narrow: 'second',
    cell: ({ who }) => who,
  },
  {
    id: 'outcome',
    head: t.outcomeHead,
    width: 'minmax(110px, 1fr)',
    narrow: 'second',
    cell: ({ outcome, isBad }) => (
      <span className={isBad ? 'text-bad' : 'text-text-2'}>{outcome}</span>
    ),
  },
  {
    id: 'took',
    head: t.took,
    width: '72px',
    align: 'end',
    narrow: 'end',
    cell: ({ durationMs }) => (durationMs === undefined ? '–' : duration(durationMs)),
  },
  {
    id: 'size',
    head: t.size,
    width: '72px',
    align: 'end',
    cell: ({ bytes: size }) => (size === undefined ? '–' : bytes(size)),
  },
];
