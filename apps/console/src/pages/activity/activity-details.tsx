import { texts } from '../../texts/index.js';
import { Drawer } from '../../ui/dialog.js';
import { duration, exactTime } from '../../ui/format.js';
import { LinkButton } from '../../ui/link-button.js';
import type { ActivityRow } from './rows.js';

const { activity: t } = texts;

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Everything that is known about one line, and where to go from it. */
export function ActivityDetails(props: {
  readonly row: ActivityRow | undefined;
  readonly onClose: () => void;
}) {
  const { row, onClose } = props;
  if (!row) return null;
  const facts: readonly (readonly [string, string])[] = [
    [t.time, exactTime(row.at)],
    [t.who, row.who],
    [t.outcomeHead, row.outcome],
    ...(row.durationMs === undefined ? [] : [[t.took, duration(row.durationMs)] as const]),
    ...Object.entries(row.details)
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([key, value]) => [key.replaceAll('_', ' '), shown(value)] as const),
  ];
  return (
    <Drawer
      isOpen
      onClose={onClose}
      title={row.tool ?? row.what}
      footer={
        <>
          {row.server !== undefined && (
            <LinkButton to="/servers/$name" params={{ name: row.server }}>
              {t.openServer}
            </LinkButton>
          )}
          {row.tool !== undefined && (
            <LinkButton kind="primary" to="/tools/$name" params={{ name: row.tool }}>
              {t.openTool}
            </LinkButton>
          )}
        </>
      }
    >
      <dl className="grid grid-cols-[110px_1fr] gap-x-3 gap-y-2 p-4">
        {facts.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-text-2 first-letter:uppercase">{name}</dt>
            <dd className="font-mono text-small [overflow-wrap:anywhere]">{value}</dd>
          </div>
        ))}
      </dl>
      <p className="text-text-2 px-4 text-small">{t.noArguments}</p>
    </Drawer>
  );
}
