import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useRouter } from '@tanstack/react-router';
import { Filter, Wrench } from 'lucide-react';
import { useDeferredValue, useMemo } from 'react';
import { skillsQuery } from '../../api/queries.js';
import type { ToolRow } from '../../model/tool-row.js';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { DataTable } from '../../ui/data-table.js';
import { PageHeader } from '../../ui/page-header.js';
import { Empty, ErrorPane, NoRight, SkeletonRows } from '../../ui/pane.js';
import { useSelectedIds } from '../../ui/selected-ids.js';
import { FilterBar } from './filter-bar.js';
import { pathOf, toolColumns } from './tool-columns.js';
import { filtered, sorted, type ToolFilters, useSorting, useToolFilters } from './tool-filters.js';
import { ToolsBulk } from './tools-bulk.js';
import { useToolRows } from './use-tool-rows.js';

const t = texts.tools;

/** Every tool of every server, also those that wait for approval. */
export function ToolsPage() {
  const { rows, total, isComplete, error, retry } = useToolRows();
  const filters = useToolFilters();
  const isEmpty = rows?.length === 0 && isComplete;
  return (
    <>
      <PageHeader title={t.title} />
      {error !== null && rows === undefined && (
        <ErrorPane title={texts.errors.couldNotBeRead(t.name)} error={error} onRetry={retry} />
      )}
      {rows === undefined && error === null && <SkeletonRows count={12} />}
      {isEmpty && (
        <Empty icon={Wrench} title={t.emptyTitle} action={<Link to="/servers">{t.toServers}</Link>}>
          {t.empty}
        </Empty>
      )}
      {rows !== undefined && !isEmpty && (
        <Tools
          rows={rows}
          filters={filters}
          progress={isComplete ? '' : t.reading(rows.length, total)}
        />
      )}
    </>
  );
}

interface ToolsProps {
  readonly rows: readonly ToolRow[];
  readonly filters: ToolFilters;
  readonly progress: string;
}

function Tools({ rows, filters, progress }: ToolsProps) {
  const router = useRouter();
  const mayOperate = useMay('operate');
  const { data: skills = [] } = useQuery(skillsQuery);
  const sorting = useSorting();
  const { ids, setIds } = useSelectedIds();
  const { q, server, skill, effect, state } = filters.values;
  const { column, direction } = sorting.value;
  // Typing stays quick while 10,000 rows are filtered.
  const words = useDeferredValue(q);
  const groups = useMemo(() => {
    const wanted = filtered(rows, { q: words, server, skill, effect, state });
    return [{ id: 'all', label: '', rows: sorted(wanted, { column, direction }) }];
  }, [rows, words, server, skill, effect, state, column, direction]);
  const columns = useMemo(() => {
    const names = new Map(skills.map(({ id, name }) => [id, name]));
    return toolColumns((id) => names.get(id) ?? id);
  }, [skills]);
  const shown = groups[0]?.rows ?? [];
  const selected = shown.filter(({ id }) => ids.has(id));
  return (
    <>
      <FilterBar rows={rows} shown={shown} skills={skills} filters={filters} progress={progress} />
      {shown.length === 0 ? (
        <NoMatch />
      ) : (
        <DataTable
          label={t.list}
          columns={columns}
          groups={groups}
          idOf={({ id }) => id}
          nameOf={({ name }) => name}
          onOpen={(row) => router.history.push(`${router.basepath}${pathOf(row)}`)}
          sorting={sorting}
          {...(mayOperate && { selection: { ids, onChange: setIds } })}
        />
      )}
      {mayOperate ? (
        <ToolsBulk rows={selected} skills={skills} onClear={() => setIds(new Set())} />
      ) : (
        <NoRight>{t.mayLook}</NoRight>
      )}
    </>
  );
}

function NoMatch() {
  const navigate = useNavigate();
  return (
    <Empty
      icon={Filter}
      title={t.noMatchTitle}
      action={
        <Button onClick={() => void navigate({ to: '/tools', search: {} })}>{t.clear}</Button>
      }
    >
      {t.noMatch}
    </Empty>
  );
}
