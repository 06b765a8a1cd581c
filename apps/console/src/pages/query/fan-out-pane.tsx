import { CircleCheck } from 'lucide-react';
import { texts } from '../../texts/index.js';
import { classNames } from '../../ui/class-names.js';
import { duration } from '../../ui/format.js';
import { Pane } from '../../ui/pane.js';
import { CallRow, SilentRow, tracks } from './call-row.js';
import type { QueryAnswer, QueryExplanation } from './query-answer.js';

const { query: t } = texts;
const TICKS = 4;
/** Room after the end, as a share. */
const MARGIN = 0.02;
/** Labels nearer to it stand before their tick. */
const NEAR_END = 0.08;
const STEPS_MS = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000];

/** Round times, of which at most `TICKS` stand on the axis. */
function ticksOf(ms: number): readonly number[] {
  const step = STEPS_MS.find((one) => one * TICKS >= ms) ?? Math.ceil(ms / TICKS);
  return Array.from({ length: Math.floor(ms / step) + 1 }, (_, at) => at * step);
}

/** Servers by their first call, each with its calls together. */
function byServer(timeline: QueryExplanation['timeline']): QueryExplanation['timeline'] {
  const servers = [...new Set(timeline.map(({ server }) => server))];
  return servers.flatMap((name) => timeline.filter(({ server }) => server === name));
}

/** When each tool was called and answered, on one time axis. */
export function FanOutPane({ answer: { metadata } }: { readonly answer: QueryAnswer }) {
  const { explanation, serversSucceeded, serversQueried, processingTimeMs } = metadata;
  const calls = explanation?.timeline ?? [];
  const called = new Set(calls.map(({ server }) => server));
  const silent = (metadata.servers ?? []).filter(({ name }) => !called.has(name));
  return (
    <Pane
      title={t.fanOut}
      aside={t.fanOutAside(calls.length, explanation?.notQueried.length ?? 0)}
      actions={
        <span className="text-text-2 flex flex-wrap items-center gap-x-3 text-small">
          <span className="text-ok inline-flex items-center gap-1.5">
            <CircleCheck size={13} aria-hidden /> {t.answered(serversSucceeded, serversQueried)}
          </span>
          {t.took(processingTimeMs)}
          {explanation?.rule != null && <span>{t.rule(explanation.rule)}</span>}
        </span>
      }
    >
      {explanation && <Gantt explanation={explanation} silent={silent} />}
    </Pane>
  );
}

interface GanttProps {
  readonly explanation: QueryExplanation;
  readonly silent: NonNullable<QueryAnswer['metadata']['servers']>;
}

function Gantt({ explanation: { timeline, phases }, silent }: GanttProps) {
  const end = Math.max(1, phases.rankedMs * (1 + MARGIN));
  const ticks = ticksOf(end);
  const at = (ms: number): string => `${Math.min(100, (ms / end) * 100)}%`;
  const deadline = phases.chosenMs + phases.serverTimeoutMs;
  return (
    <div role="table" aria-label={t.fanOut} className="pb-2">
      <div role="row" className={`${tracks} text-text-2 h-6 items-end px-5 text-label`}>
        <span role="columnheader">{t.tool}</span>
        <span role="columnheader" className="relative hidden h-4 tab:block">
          <span className="sr-only">{t.time}</span>
          {ticks.map((ms) => (
            <span
              key={ms}
              aria-hidden
              className={classNames(
                'absolute whitespace-nowrap',
                ms > end * (1 - NEAR_END) && '-translate-x-full',
              )}
              style={{ left: at(ms) }}
            >
              {ms === 0 ? '0' : duration(ms)}
            </span>
          ))}
          {deadline <= end && (
            <span
              className="text-text absolute -top-3.5 -translate-x-full whitespace-nowrap"
              style={{ left: at(deadline) }}
            >
              {t.deadline(phases.serverTimeoutMs)}
            </span>
          )}
        </span>
        <span role="columnheader">{t.outcome}</span>
      </div>
      {byServer(timeline).map((call, index) => (
        <CallRow
          key={index}
          call={call}
          ticks={ticks.map(at)}
          deadline={deadline <= end ? at(deadline) : undefined}
          left={at(call.startMs)}
          width={`max(3px, ${at(call.endMs - call.startMs)})`}
          choosing={at(phases.chosenMs)}
        />
      ))}
      {silent.map(({ name, status, error }) => (
        <SilentRow key={name} server={name} word={t.outcomes[status]} reason={error} />
      ))}
    </div>
  );
}
