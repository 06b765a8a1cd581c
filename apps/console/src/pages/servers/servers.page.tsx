import { useQuery } from '@tanstack/react-query';
import { Filter, Server } from 'lucide-react';
import type { ServerView } from '@app/api-client';
import { serversQuery } from '../../api/queries.js';
import { isServing } from '../../model/server-state.js';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { FilterInput } from '../../ui/field.js';
import { FilterChip } from '../../ui/filter-chip.js';
import { PageHeader } from '../../ui/page-header.js';
import { Empty, ErrorPane, NoRight, SkeletonRows } from '../../ui/pane.js';
import { useSelectedIds } from '../../ui/selected-ids.js';
import {
  filtered,
  groupsOf,
  isFiltered,
  type ServerFilters,
  useServerFilters,
} from './server-filters.js';
import { AddButton, AddPanel } from './add-panel.js';
import { HealthLegend } from './health-cell.js';
import { ServersBulk } from './servers-bulk.js';
import { ServersTable } from './servers-table.js';

const t = texts.servers;

export function ServersPage() {
  const { data: servers, error, isError, refetch } = useQuery(serversQuery);
  const filters = useServerFilters();
  const mayOperate = useMay('operate');
  const mayDefine = useMay('admin');
  const shown = filtered(servers ?? [], filters);
  const { ids, setIds } = useSelectedIds();
  const selected = shown.filter(({ id }) => ids.has(id));
  return (
    <div className="flex min-h-full items-start">
      <div className="min-w-0 grow">
        <PageHeader title={t.title}>{mayDefine && <AddButton />}</PageHeader>
        {servers !== undefined && servers.length > 0 && (
          <FilterBar filters={filters} shown={shown} total={servers.length} />
        )}
        {isError && <ErrorPane title={t.notRead} error={error} onRetry={() => void refetch()} />}
        {servers === undefined && !isError && <SkeletonRows />}
        {servers?.length === 0 && <NoServers />}
        {servers !== undefined && servers.length > 0 && shown.length === 0 && (
          <NoMatch filters={filters} />
        )}
        {shown.length > 0 && (
          <>
            <ServersTable
              groups={groupsOf(shown)}
              selection={mayOperate ? { ids, onChange: setIds } : undefined}
            />
            <HealthLegend />
          </>
        )}
        <WhyNot />
        {mayOperate && <ServersBulk servers={selected} onClear={() => setIds(new Set())} />}
      </div>
      {mayDefine && <AddPanel />}
    </div>
  );
}

/** Why actions are missing here. */
function WhyNot() {
  const mayOperate = useMay('operate');
  const mayDefine = useMay('admin');
  return mayDefine ? null : <NoRight>{mayOperate ? t.mayOperateOnly : t.mayLook}</NoRight>;
}
interface FilterBarProps {
  readonly filters: ServerFilters;
  readonly shown: readonly ServerView[];
  readonly total: number;
}

function FilterBar({ filters, shown, total }: FilterBarProps) {
  const options = (labels: Readonly<Record<string, string>>) =>
    Object.entries(labels).map(([value, label]) => ({ value: value.toLowerCase(), label }));
  const sum = (servers: readonly ServerView[]): number =>
    servers.reduce((total, { tool_count: tools }) => total + tools, 0);
  return (
    <div className="border-line flex flex-wrap items-center gap-2 border-b px-5 py-2">
      <FilterInput
        label={t.filter}
        value={filters.text}
        onChange={(event) => filters.setText(event.target.value)}
      />
      <FilterChip
        name={t.state}
        value={filters.state}
        options={options(t.states)}
        onChange={filters.setState}
      />
      <FilterChip
        name={t.transport}
        value={filters.transport}
        options={options(t.transports)}
        onChange={filters.setTransport}
      />
      <span className="text-text-2 ml-auto text-small">
        {t.summary(shown.length, total, sum(shown.filter(isServing)), sum(shown))}
      </span>
    </div>
  );
}

function NoServers() {
  const mayDefine = useMay('admin');
  return (
    <Empty icon={Server} title={t.none} action={mayDefine && <AddButton />}>
      {mayDefine ? t.noneHint : t.noneRight}
    </Empty>
  );
}

function NoMatch({ filters }: { readonly filters: ServerFilters }) {
  const clear = (): void => {
    filters.setText('');
    filters.setState('');
    filters.setTransport('');
  };
  return (
    <Empty
      icon={Filter}
      title={t.noMatch}
      action={isFiltered(filters) && <Button onClick={clear}>{t.clearFilters}</Button>}
    />
  );
}
