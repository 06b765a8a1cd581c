import { Activity as ActivityIcon, Pause, Play } from 'lucide-react';
import { useMemo } from 'react';
import { useLiveFeed } from '../../live/live-feed.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { DataTable } from '../../ui/data-table.js';
import { FilterInput } from '../../ui/field.js';
import { FilterChip } from '../../ui/filter-chip.js';
import { PageHeader } from '../../ui/page-header.js';
import { Empty, ErrorPane, NoRight } from '../../ui/pane.js';
import { useAddressState } from '../../ui/tabs.js';
import { ActivityDetails } from './activity-details.js';
import { activityColumns } from './columns.js';
import { ExportMenu } from './export-menu.js';
import { type ActivityRow, type Filters, fits, rowOfLine } from './rows.js';
import { useAuditLog } from './use-audit-log.js';
import { useServerNames } from './use-server-names.js';

const { activity: t } = texts;
const MOST_LIVE_LINES = 1_000;

const options = (names: Readonly<Record<string, string>>) =>
  Object.entries(names).map(([value, label]) => ({ value, label }));

/** Calls and changes in one list, so that cause stands beside effect. */
export function ActivityPage() {
  const [kind, setKind] = useAddressState('kind', '');
  const [outcome, setOutcome] = useAddressState('outcome', '');
  const [server, setServer] = useAddressState('server', '');
  const [text, setText] = useAddressState('q', '');
  const [openId, setOpenId] = useAddressState('open', '');
  const filters: Filters = { kind, outcome, server, text };
  const feed = useLiveFeed(MOST_LIVE_LINES, ({ topic }) => topic !== 'audit');
  const log = useAuditLog(filters);
  const live = useMemo(() => feed.lines.map(rowOfLine), [feed.lines]);
  const shown = live.filter((row) => fits(row, filters));
  const groups = [
    { id: 'live', label: shown.length > 0 && log.rows.length > 0 ? t.since : '', rows: shown },
    { id: 'log', label: shown.length > 0 && log.rows.length > 0 ? t.before : '', rows: log.rows },
  ];
  const open = [...shown, ...log.rows].find(({ id }) => id === openId);
  const serverNames = useServerNames();
  const isFiltered = kind !== '' || outcome !== '' || server !== '' || text !== '';
  const clear = (): void => {
    for (const set of [setKind, setOutcome, setServer, setText]) set('');
  };
  return (
    <>
      <PageHeader title={t.title}>
        <ExportMenu filters={filters} />
        <Button icon={feed.isPaused ? Play : Pause} onClick={feed.togglePause}>
          <span className="sr-only tab:not-sr-only">
            {feed.isPaused ? t.resume(feed.waiting) : t.pause}
          </span>
        </Button>
      </PageHeader>
      <div className="border-line flex flex-wrap items-center gap-2 border-b px-5 py-2.5">
        <FilterInput
          label={t.filter}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <FilterChip name={t.kind} value={kind} options={options(t.kinds)} onChange={setKind} />
        <FilterChip
          name={t.outcome}
          value={outcome}
          options={options(t.outcomes)}
          onChange={setOutcome}
        />
        <FilterChip
          name={t.server}
          value={server}
          options={serverNames.map((name) => ({ value: name, label: name }))}
          onChange={setServer}
        />
      </div>
      {log.error !== undefined && (
        <ErrorPane
          title={texts.errors.couldNotBeRead(t.log)}
          error={log.error}
          onRetry={log.retry}
        />
      )}
      <ActivityTable groups={groups} openId={openId} onOpen={({ id }) => setOpenId(id)} />
      {shown.length + log.rows.length === 0 && !log.isReading && (
        <Empty
          icon={ActivityIcon}
          title={t.nothing}
          action={isFiltered && <Button onClick={clear}>{t.clear}</Button>}
        >
          {t.nothingHint}
        </Empty>
      )}
      {log.isForAdmins && <NoRight>{t.logNeedsAdmin}</NoRight>}
      {log.hasMore && (
        <Button className="m-5" busy={log.isReading} onClick={log.readMore}>
          {t.more}
        </Button>
      )}
      <ActivityDetails row={open} onClose={() => setOpenId('')} />
    </>
  );
}

interface ActivityTableProps {
  readonly groups: Parameters<typeof DataTable<ActivityRow>>[0]['groups'];
  readonly openId: string;
  readonly onOpen: (row: ActivityRow) => void;
}

function ActivityTable({ groups, openId, onOpen }: ActivityTableProps) {
  return (
    <DataTable
      label={t.title}
      columns={activityColumns}
      groups={groups}
      idOf={({ id }) => id}
      nameOf={({ tool, what }) => tool ?? what}
      onOpen={onOpen}
      currentId={openId}
    />
  );
}
