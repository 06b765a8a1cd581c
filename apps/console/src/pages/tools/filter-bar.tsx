import type { SkillView } from '@app/api-client';
import type { ToolRow } from '../../model/tool-row.js';
import { texts } from '../../texts/index.js';
import { FilterInput } from '../../ui/field.js';
import { FilterChip } from '../../ui/filter-chip.js';
import { NO_SKILL, type ToolFilters } from './tool-filters.js';

const t = texts.tools;

interface FilterBarProps {
  readonly rows: readonly ToolRow[];
  readonly shown: readonly ToolRow[];
  readonly skills: readonly SkillView[];
  readonly filters: ToolFilters;
  /** While the rest is read. */
  readonly progress: string;
}

export function FilterBar({ rows, shown, skills, filters, progress }: FilterBarProps) {
  const { values, set } = filters;
  const servers = [...new Set(rows.map(({ server }) => server))].toSorted();
  return (
    <div className="border-line flex flex-wrap items-center gap-2 border-b px-5 py-2">
      <FilterInput
        label={t.filter}
        value={values.q}
        onChange={(event) => set.q(event.target.value)}
      />
      <FilterChip
        name={t.server}
        value={values.server}
        options={servers.map((server) => ({ value: server, label: server }))}
        onChange={set.server}
      />
      <FilterChip
        name={t.skill}
        value={values.skill}
        options={[
          { value: NO_SKILL, label: t.noSkill },
          ...skills
            .filter(({ tool_count: tools }) => tools > 0)
            .map(({ id, name }) => ({ value: id, label: name })),
        ]}
        onChange={set.skill}
      />
      <FilterChip
        name={t.effect}
        value={values.effect}
        options={Object.entries(t.effects).map(([value, label]) => ({ value, label }))}
        onChange={set.effect}
      />
      <FilterChip
        name={t.state}
        value={values.state}
        options={Object.entries(t.states).map(([value, label]) => ({ value, label }))}
        onChange={set.state}
      />
      <span role="status" className="text-text-2 ml-auto text-small">
        {progress === ''
          ? `${t.shown(shown.length, rows.length)}, ${t.tokens(sumOfTokens(shown))}`
          : progress}
      </span>
    </div>
  );
}

/** What the definitions cost together in a context. */
function sumOfTokens(rows: readonly ToolRow[]): number {
  return rows.reduce((sum, { tokens = 0 }) => sum + tokens, 0);
}
