import { useQuery } from '@tanstack/react-query';
import { serversQuery, viewsQuery } from '../../api/queries.js';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { Input } from '../../ui/field.js';
import { FilterChip } from '../../ui/filter-chip.js';
import { Segmented } from '../../ui/segmented.js';
import { type ConfigEdit, shareOf } from './search-config.js';

const { search: t } = texts;

interface ConfigFormProps {
  readonly label: string;
  readonly edit: ConfigEdit;
}

/** The settings of one search, in one line. */
export function ConfigForm({ label, edit: { config, set } }: ConfigFormProps) {
  const maySeeViews = useMay('operate');
  const { data: servers = [] } = useQuery(serversQuery);
  const { data: views = [] } = useQuery({ ...viewsQuery, enabled: maySeeViews });
  return (
    <div role="group" aria-label={label} className="flex flex-wrap items-center gap-2">
      <span title={t.strategyHint}>
        <Segmented
          label={t.strategy}
          value={config.strategy}
          options={[
            { value: 'hierarchical', label: t.strategies.hierarchical },
            { value: 'direct', label: t.strategies.direct },
          ]}
          onChange={set.strategy}
        />
      </span>
      <FilterChip
        name={t.server}
        value={config.server}
        options={servers.map(({ name }) => ({ value: name, label: name }))}
        onChange={set.server}
      />
      {maySeeViews && (
        <FilterChip
          name={t.view}
          value={config.view}
          options={views.map(({ slug }) => ({ value: slug, label: slug }))}
          onChange={set.view}
        />
      )}
      <Threshold label={t.threshold} value={config.threshold} onChange={set.threshold} />
      {config.strategy === 'hierarchical' && (
        <Threshold
          label={t.skillThreshold}
          value={config.skillThreshold}
          onChange={set.skillThreshold}
        />
      )}
    </div>
  );
}

interface ThresholdProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function Threshold({ label, value, onChange }: ThresholdProps) {
  const isInvalid = value !== '' && shareOf(value) === undefined;
  return (
    <label className="text-text-2 inline-flex items-center gap-1.5 text-small">
      {label}
      <Input
        inputMode="decimal"
        placeholder="–"
        aria-invalid={isInvalid}
        value={value}
        className="!h-6 !w-14 !px-1.5"
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
}
