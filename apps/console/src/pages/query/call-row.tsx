import { CircleCheck, CircleX, Link2Off, type LucideIcon, TimerOff } from 'lucide-react';
import { texts } from '../../texts/index.js';
import { classNames } from '../../ui/class-names.js';
import { duration } from '../../ui/format.js';
import { ServerName, ToolName } from '../../ui/tool-name.js';
import type { TracedCall } from './query-answer.js';

const { query: t } = texts;

export const tracks =
  'grid grid-cols-[minmax(0,1fr)_auto] gap-x-4 tab:grid-cols-[minmax(120px,220px)_minmax(0,1fr)_150px]';

const looks: Readonly<
  Record<TracedCall['outcome'], { readonly icon: LucideIcon; readonly look: string }>
> = {
  succeeded: { icon: CircleCheck, look: 'text-ok' },
  failed: { icon: CircleX, look: 'text-bad' },
  timed_out: { icon: TimerOff, look: 'text-warn' },
  unavailable: { icon: Link2Off, look: 'text-bad' },
};

interface CallRowProps {
  readonly call: TracedCall;
  readonly ticks: readonly string[];
  readonly deadline: string | undefined;
  readonly left: string;
  readonly width: string;
  /** Until then tools were chosen. */
  readonly choosing: string;
}

export function CallRow({ call, ticks, deadline, left, width, choosing }: CallRowProps) {
  const { server, tool, kind, startMs, endMs, outcome } = call;
  const isAnswered = outcome === 'succeeded';
  return (
    <div role="row" className={`${tracks} min-h-7 items-center px-5`}>
      <span role="cell" className="min-w-0" title={t.kinds[kind]}>
        {kind !== 'call' && (
          <span className="text-text-3 mr-1" aria-hidden>
            ↳
          </span>
        )}
        <ToolName name={`${server}.${tool}`} />
        {kind !== 'call' && <span className="sr-only">{t.kinds[kind]}</span>}
      </span>
      <span
        role="cell"
        className="relative order-last col-span-2 h-7 tab:order-none tab:col-span-1"
      >
        {ticks.map((tick) => (
          <span
            key={tick}
            aria-hidden
            className="border-line absolute inset-y-0 border-l"
            style={{ left: tick }}
          />
        ))}
        <span
          aria-hidden
          className="bg-c-ghost absolute inset-y-2.5 left-0"
          style={{ width: choosing }}
        />
        <span
          role="img"
          aria-label={t.bar(startMs, endMs)}
          title={t.bar(startMs, endMs)}
          className={classNames(
            'absolute inset-y-2 rounded-1',
            isAnswered ? 'bg-c1' : 'border-warn-mark border border-dashed',
          )}
          style={{ left, width }}
        />
        {isAnswered && (
          <span
            className="text-text-2 bg-page absolute top-1.5 px-1 text-label whitespace-nowrap"
            style={{ left: `min(calc(${left} + ${width} + 2px), calc(100% - 48px))` }}
          >
            {duration(endMs - startMs)}
          </span>
        )}
        {deadline !== undefined && (
          <span
            aria-hidden
            className="border-text absolute inset-y-0 border-l"
            style={{ left: deadline }}
          />
        )}
      </span>
      <Outcome call={call} />
    </div>
  );
}

function Outcome({ call: { outcome, pieces, error } }: { readonly call: TracedCall }) {
  const { icon: Icon, look } = looks[outcome];
  const found = pieces === 0 ? t.nothingFound : t.passages(pieces);
  const isEmpty = outcome === 'succeeded' && pieces === 0;
  return (
    <span
      role="cell"
      title={error ?? undefined}
      className={classNames(
        'inline-flex items-center gap-1.5 text-small',
        isEmpty ? 'text-text-2' : look,
      )}
    >
      <Icon size={13} aria-hidden className="shrink-0" />
      {outcome === 'succeeded' ? found : t.outcomes[outcome]}
    </span>
  );
}

interface SilentRowProps {
  readonly server: string;
  readonly word: string;
  readonly reason: string | null;
}

/** A server that was chosen, and of which no tool was called. */
export function SilentRow({ server, word, reason }: SilentRowProps) {
  return (
    <div role="row" className={`${tracks} min-h-7 items-center px-5`}>
      <span role="cell" className="min-w-0">
        <ServerName name={server} />
      </span>
      <span
        role="cell"
        className="text-text-2 order-last col-span-2 line-clamp-2 text-small [overflow-wrap:anywhere] tab:order-none tab:col-span-1"
        title={reason ?? undefined}
      >
        {reason}
      </span>
      <span role="cell" className="text-bad inline-flex items-center gap-1.5 text-small">
        <Link2Off size={13} aria-hidden className="shrink-0" /> {word}
      </span>
    </div>
  );
}
