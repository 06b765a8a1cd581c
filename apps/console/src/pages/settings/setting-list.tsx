import type { SettingView } from '@app/api-client';
import { useQuery } from '@tanstack/react-query';
import { SlidersHorizontal } from 'lucide-react';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { DataTable } from '../../ui/data-table.js';
import { FilterInput } from '../../ui/field.js';
import { FilterChip } from '../../ui/filter-chip.js';
import { Empty, ErrorPane, NoRight, SkeletonRows } from '../../ui/pane.js';
import { useAddressState } from '../../ui/tabs.js';
import { settingColumns } from './setting-columns.js';
import { settingsQuery } from './settings-queries.js';

const { settings: t } = texts;

/** Every setting with its value and where it comes from; what it is set to is changed where it is given. */
export function SettingList() {
  const maySee = useMay('admin');
  const [text, setText] = useAddressState('q', '');
  const [group, setGroup] = useAddressState('group', '');
  const [source, setSource] = useAddressState('source', '');
  const settings = useQuery({ ...settingsQuery, enabled: maySee });
  if (!maySee) return <NoRight>{t.needsAdmin}</NoRight>;
  const all = settings.data ?? [];
  const shown = all.filter((one) => fits(one, { text: text.trim().toLowerCase(), group, source }));
  const names = [...new Set(all.map((one) => one.group))];
  const groups = names
    .map((name) => ({ id: name, label: name, rows: shown.filter((one) => one.group === name) }))
    .filter(({ rows }) => rows.length > 0);
  const clear = (): void => {
    for (const set of [setText, setGroup, setSource]) set('');
  };
  return (
    <>
      <div className="border-line flex flex-wrap items-center gap-2 border-b px-5 py-2.5">
        <FilterInput label={t.filter} value={text} onChange={(e) => setText(e.target.value)} />
        <FilterChip
          name={t.group}
          value={group}
          options={names.map((name) => ({ value: name, label: name }))}
          onChange={setGroup}
        />
        <FilterChip
          name={t.source}
          value={source}
          options={Object.entries(t.sources).map(([value, label]) => ({ value, label }))}
          onChange={setSource}
        />
        <span className="text-text-2 text-small">
          {all.every(({ needs_restart: needs }) => needs) && t.restartAll}
        </span>
      </div>
      {settings.isError && (
        <ErrorPane
          title={texts.errors.couldNotBeRead(t.inEffect)}
          error={settings.error}
          onRetry={() => void settings.refetch()}
        />
      )}
      {settings.isPending && <SkeletonRows />}
      {groups.length > 0 && (
        <DataTable
          label={t.inEffect}
          isTall
          columns={settingColumns(!all.every(({ needs_restart: needs }) => needs))}
          groups={groups}
          idOf={({ name }) => name}
          nameOf={({ name }) => name}
        />
      )}
      {settings.data && groups.length === 0 && (
        <Empty
          icon={SlidersHorizontal}
          title={t.nothingFits}
          action={<Button onClick={clear}>{t.clear}</Button>}
        />
      )}
    </>
  );
}

interface Filters {
  readonly text: string;
  readonly group: string;
  readonly source: string;
}

function fits(setting: SettingView, { text, group, source }: Filters): boolean {
  const { name, description, value } = setting;
  return (
    (group === '' || setting.group === group) &&
    (source === '' || setting.source === source) &&
    `${name} ${description} ${value ?? ''}`.toLowerCase().includes(text)
  );
}
