import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Settings2, Wrench } from 'lucide-react';
import { useState } from 'react';
import type { ServerView } from '@app/api-client';
import {
  healthHistoryQuery,
  healthWindows,
  type HealthWindow,
} from '../../../servers/health-history.js';
import { texts } from '../../../texts/index.js';
import { Button } from '../../../ui/button.js';
import { classNames } from '../../../ui/class-names.js';
import { age, exactTime, shortDay, shortTime } from '../../../ui/format.js';
import { ErrorPane } from '../../../ui/pane.js';
import { Segmented } from '../../../ui/segmented.js';
import { StateMark } from '../../../ui/state-mark.js';
import { useAddressState } from '../../../ui/tabs.js';
import { type Flag, flagsOf } from './flags.js';
import { HealthBand, summaryOf } from './health-band.js';

const t = texts.server.health;
const SHOWN = 4;

/** The band, and a row for each flag on it, newest first. */
export function HealthPane({ server }: { readonly server: ServerView }) {
  const [chosen, choose] = useAddressState('window', '24h');
  const window = healthWindows.find((one) => one === chosen) ?? '24h';
  const { data, error, isError, refetch } = useQuery({
    ...healthHistoryQuery(server.id, window),
    placeholderData: keepPreviousData,
  });
  const flags = data ? flagsOf(data) : [];
  return (
    <section aria-label={t.title(t.windows[window])} className="px-5 pt-3 pb-2">
      <div className="mb-2 flex flex-wrap items-center gap-x-2 gap-y-1">
        <h2 className="font-semibold">{t.title(t.windows[window])}</h2>
        {data && <span className="text-text-3 text-small">{summaryOf(data, flags.length)}</span>}
        <span className="ml-auto">
          <Segmented
            label={t.window}
            value={window}
            options={healthWindows.map((value) => ({ value, label: t.windows[value] }))}
            onChange={choose}
          />
        </span>
      </div>
      {isError && data === undefined && (
        <ErrorPane title={t.notRead} error={error} onRetry={() => void refetch()} />
      )}
      {/* As high as the band, so that nothing moves when it comes. */}
      {!data && !isError && <div className="h-34" />}
      {data && <HealthBand history={data} flags={flags} window={window} />}
      {data && <FlagRows flags={flags} window={window} />}
    </section>
  );
}

interface FlagRowsProps {
  readonly flags: readonly Flag[];
  readonly window: HealthWindow;
}

function FlagRows({ flags, window }: FlagRowsProps) {
  const [isAll, setAll] = useState(false);
  const newest = flags.toReversed();
  const shown = isAll ? newest : newest.slice(0, SHOWN);
  return (
    <>
      <ol aria-label={t.events} className="mt-1">
        {shown.map((flag) => (
          <FlagRow key={flag.number} flag={flag} window={window} />
        ))}
      </ol>
      {flags.length > shown.length && (
        <Button kind="ghost" small className="-ml-2" onClick={() => setAll(true)}>
          {t.all(flags.length)}
        </Button>
      )}
    </>
  );
}

interface FlagRowProps {
  readonly flag: Flag;
  readonly window: HealthWindow;
}

function FlagRow({ flag, window }: FlagRowProps) {
  const { number, from, to, isOver, text, attempts } = flag;
  const isPoint = from === to;
  const timeOf = (at: number): string =>
    window === '24h' ? shortTime(at) : `${shortDay(at)} ${shortTime(at)}`;
  return (
    <li className="flex min-h-7 flex-wrap items-center gap-x-2 py-1 tab:gap-x-4 tab:py-0">
      <span className="border-control-line grid h-5 min-w-5 place-items-center rounded-full border px-1 text-label font-medium">
        {number}
      </span>
      <time
        dateTime={new Date(from).toISOString()}
        title={exactTime(new Date(from))}
        className={classNames('text-small', window === '24h' ? 'min-w-26' : 'min-w-48')}
      >
        {isPoint ? timeOf(from) : `${timeOf(from)} ${t.to} ${isOver ? timeOf(to) : t.now}`}
      </time>
      <span
        className={classNames(
          'text-text-2 text-small tab:w-12 tab:text-right',
          isPoint && 'max-tab:hidden',
        )}
      >
        {!isPoint && age(to - from)}
      </span>
      <span className="text-small tab:w-27">
        <FlagMarkOf flag={flag} />
      </span>
      <span className="min-w-0 grow basis-full pl-7 text-small [overflow-wrap:anywhere] tab:basis-40 tab:pl-0">
        {text}
      </span>
      {attempts > 0 && (
        <span className="text-text-3 text-small max-tab:pl-7">{t.attempts(attempts)}</span>
      )}
    </li>
  );
}

function FlagMarkOf({ flag: { kind } }: { readonly flag: Flag }) {
  if (kind !== 'changed' && kind !== 'tools') return <StateMark state={kind} />;
  const Icon = kind === 'tools' ? Wrench : Settings2;
  return (
    <span className="text-text-2 inline-flex items-center gap-1.5">
      <Icon size={14} aria-hidden /> {t.kinds[kind]}
    </span>
  );
}
