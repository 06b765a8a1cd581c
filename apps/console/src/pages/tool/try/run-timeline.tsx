import { texts } from '../../../texts/index.js';
import { classNames } from '../../../ui/class-names.js';
import { duration } from '../../../ui/format.js';
import { useNow } from '../../../ui/time.js';
import type { Moment, Run } from './runs.js';

/** Labels that would overlap the one before are left out; the log has all. */
const LABEL_SHARE = 0.16;
const TICKS = [0, 0.25, 0.5, 0.75];

interface Segment {
  readonly from: number;
  readonly to: number;
  readonly isWaiting: boolean;
}

function segmentsOf(moments: readonly Moment[], total: number): Segment[] {
  const starts = [
    { at: 0, kind: 'told' as Moment['kind'] },
    ...moments.filter(({ kind }) => kind !== 'log'),
  ];
  return starts.map(({ at, kind }, index) => ({
    from: at,
    to: starts[index + 1]?.at ?? total,
    isWaiting: kind === 'asked',
  }));
}

function labelsOf(moments: readonly Moment[], total: number): Moment[] {
  let last = Number.NEGATIVE_INFINITY;
  return moments
    .filter(({ kind }) => kind !== 'log')
    .filter(({ at }) => {
      const isFree = at - last >= total * LABEL_SHARE && at <= total * (1 - LABEL_SHARE / 2);
      if (isFree) last = at;
      return isFree;
    });
}

export function momentWords({ kind, text }: Moment): string {
  if (kind === 'asked') return texts.tool.asked;
  return kind === 'told' ? texts.tool.told : text;
}

/** When what happened, from the first byte sent to the result. */
export function RunTimeline({ run }: { readonly run: Run }) {
  const now = useNow();
  const running = Math.max(1, now - run.startedAt.getTime(), run.moments.at(-1)?.at ?? 0);
  const total = run.tookMs > 0 ? run.tookMs : running;
  const place = (at: number): string => `${Math.min(100, (at / total) * 100)}%`;
  return (
    <figure aria-label={texts.tool.timeline} className="border-line border-b px-5 py-3">
      <div className="relative h-4 text-label" aria-hidden>
        {labelsOf(run.moments, total).map((moment, index) => (
          <span
            key={index}
            className="text-text-2 absolute max-w-40 truncate border-l border-current pl-1"
            style={{ left: place(moment.at) }}
          >
            {momentWords(moment)}
          </span>
        ))}
      </div>
      <div className="bg-idle-weak mt-0.5 flex h-2 gap-px overflow-hidden rounded-1" aria-hidden>
        {segmentsOf(run.moments, total).map(({ from, to, isWaiting }, index, all) => (
          <span
            key={index}
            style={{ width: place(to - from) }}
            className={classNames(
              isWaiting ? 'bg-warn-mark' : index === all.length - 1 ? 'bg-c1' : 'bg-c2',
            )}
          />
        ))}
      </div>
      <div className="text-text-2 relative mt-0.5 h-4 text-label" aria-hidden>
        {TICKS.map((share) => (
          <span key={share} className="absolute" style={{ left: `${share * 100}%` }}>
            {share === 0 ? '0' : duration(total * share)}
          </span>
        ))}
        <span className="text-text absolute right-0 font-medium">{duration(total)}</span>
      </div>
    </figure>
  );
}
