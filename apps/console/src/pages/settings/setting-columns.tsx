import type { SettingView } from '@app/api-client';
import { texts } from '../../texts/index.js';
import { Badge } from '../../ui/badge.js';
import type { Column } from '../../ui/data-table.js';

const { settings: t } = texts;

/** `marksRestart`: some settings take effect without one, so the others are marked. */
export function settingColumns(marksRestart: boolean): readonly Column<SettingView>[] {
  return [
    {
      id: 'name',
      head: t.name,
      width: 'minmax(260px, 3fr)',
      cell: ({ name, description }) => (
        <span className="block min-w-0">
          <span className="block truncate font-mono text-small font-medium">{name}</span>
          <span className="text-text-2 hidden truncate text-small tab:block" title={description}>
            {description}
          </span>
        </span>
      ),
    },
    {
      id: 'value',
      head: t.value,
      width: 'minmax(140px, 2fr)',
      narrow: 'second',
      cell: (setting) => <Value setting={setting} />,
    },
    {
      id: 'source',
      head: t.sourceHead,
      width: '128px',
      narrow: 'end',
      cell: ({ source }) => (
        <Badge tint={source === 'default' ? 'idle' : 'accent'}>{t.sources[source]}</Badge>
      ),
    },
    ...(marksRestart
      ? [
          {
            id: 'restart',
            head: <span className="sr-only">{t.restart}</span>,
            width: '112px',
            cell: ({ needs_restart: needs }: SettingView) => needs && <Badge>{t.restart}</Badge>,
          },
        ]
      : []),
  ];
}

function Value({ setting }: { readonly setting: SettingView }) {
  const { value, default: usual, is_secret: isSecret, is_set: isSet, source } = setting;
  if (isSecret) return <span className="text-text-2">{isSet ? t.secretSet : t.notSet}</span>;
  if (value === null || value === '') return <span className="text-text-3">{t.notSet}</span>;
  return (
    <span className="block min-w-0">
      <span className="block truncate font-mono text-small" title={value}>
        {value}
      </span>
      {source !== 'default' && (
        <span className="text-text-3 hidden truncate text-small tab:block">
          {usual === null ? t.usualNone : t.usual(usual)}
        </span>
      )}
    </span>
  );
}
