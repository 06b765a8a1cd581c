import { duration } from '../../../ui/format.js';
import { VisibleText } from '../../../ui/diff/visible-text.js';
import { momentWords } from '../try/run-timeline.js';
import type { Moment } from '../try/runs.js';

/** Progress, log lines and questions of the run in their order. */
export function RunLog({ moments }: { readonly moments: readonly Moment[] }) {
  return (
    <ol>
      {moments.map((moment, at) => (
        <li key={at} className="border-line flex gap-4 border-b px-5 py-1.5 text-small">
          <span className="text-text-3 w-16 shrink-0 text-right">{duration(moment.at)}</span>
          <span className="font-mono [overflow-wrap:anywhere]">
            <VisibleText>{momentWords(moment)}</VisibleText>
          </span>
        </li>
      ))}
    </ol>
  );
}
