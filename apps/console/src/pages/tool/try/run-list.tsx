import {
  CircleAlert,
  CircleCheck,
  CircleSlash,
  CircleX,
  LoaderCircle,
  type LucideIcon,
  MessageCircleQuestion,
} from 'lucide-react';
import { texts } from '../../../texts/index.js';
import { classNames } from '../../../ui/class-names.js';
import { clockTime, duration } from '../../../ui/format.js';
import type { Outcome, Run } from './runs.js';
import { runWords } from './run-words.js';

const marks: Readonly<Record<Outcome, { readonly icon: LucideIcon; readonly look: string }>> = {
  running: { icon: LoaderCircle, look: 'text-text-2' },
  waiting: { icon: MessageCircleQuestion, look: 'text-warn' },
  answered: { icon: CircleCheck, look: 'text-ok' },
  error: { icon: CircleX, look: 'text-bad' },
  refused: { icon: CircleAlert, look: 'text-bad' },
  cancelled: { icon: CircleSlash, look: 'text-text-2' },
};

/** Icon and words of what came of a run. */
export function RunMark({
  run,
  isTitle = false,
}: {
  readonly run: Run;
  readonly isTitle?: boolean;
}) {
  const { icon: Icon, look } = marks[run.outcome];
  return (
    <span
      className={classNames('flex min-w-0 items-center gap-2', look, isTitle && 'font-semibold')}
    >
      <Icon size={14} aria-hidden className="shrink-0" />
      <span className="truncate">{runWords(run)}</span>
    </span>
  );
}

interface RunListProps {
  readonly runs: readonly Run[];
  readonly selectedId: number | undefined;
  readonly onSelect: (id: number) => void;
}

export function RunList({ runs, selectedId, onSelect }: RunListProps) {
  if (runs.length === 0) return null;
  return (
    <section>
      <h2 className="border-line flex h-(--pane-head) items-center gap-2 border-b px-5">
        <span className="font-semibold">{texts.tool.runs}</span>
        <span className="text-text-3 text-small">{texts.tool.thisTab}</span>
      </h2>
      <ul>
        {runs.map((run) => (
          <li key={run.id}>
            <button
              type="button"
              aria-current={run.id === selectedId || undefined}
              onClick={() => onSelect(run.id)}
              className={classNames(
                'border-line flex h-(--row) w-full items-center gap-4 border-b px-5 text-left',
                run.id === selectedId ? 'bg-accent-weak' : 'hover:bg-hover',
              )}
            >
              <span className="shrink-0 font-mono text-small">{clockTime(run.startedAt)}</span>
              <span className="min-w-0 grow">
                <RunMark run={run} />
              </span>
              <span className="text-text-2 shrink-0">
                {run.tookMs > 0 ? duration(run.tookMs) : ''}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
