import { texts } from '../../texts/index.js';
import { classNames } from '../../ui/class-names.js';
import { count, percent } from '../../ui/format.js';
import { Pane } from '../../ui/pane.js';
import type { QueryExplanation } from './query-answer.js';

const { query: t } = texts;

/** What all answers would have cost a model, and what it got; the difference adds up. */
export function TokensPane({ explanation }: { readonly explanation: QueryExplanation }) {
  const { tokens, foldedTotal } = explanation;
  if (tokens.read === 0) return null;
  const lines = [
    [t.duplicates(foldedTotal), tokens.duplicates],
    [t.notReturned, tokens.notReturned],
    [t.cut, tokens.cut],
  ] as const;
  return (
    <Pane
      title={t.tokens}
      actions={
        <span className="text-ok font-semibold">{percent(1 - tokens.returned / tokens.read)}</span>
      }
    >
      <div className="px-5 pb-4">
        <Bar name={t.allAnswers} tokens={tokens.read} of={tokens.read} look="bg-c-ghost" />
        <Bar name={t.clientGot} tokens={tokens.returned} of={tokens.read} look="bg-c1" />
        <dl className="mt-2 text-small">
          {lines.map(([name, saved]) => (
            <div key={name} className="flex min-h-5 justify-between gap-3">
              <dt className="text-text-2">{name}</dt>
              <dd className="whitespace-nowrap">{t.minus(saved)}</dd>
            </div>
          ))}
        </dl>
        <p className="text-text-3 mt-1 text-label">{t.estimated}</p>
      </div>
    </Pane>
  );
}

interface BarProps {
  readonly name: string;
  readonly tokens: number;
  readonly of: number;
  readonly look: string;
}

function Bar({ name, tokens, of, look }: BarProps) {
  return (
    <div className="mb-2">
      <p className="flex justify-between text-small">
        <span>{name}</span>
        <span className="font-semibold">{count(tokens)}</span>
      </p>
      <span aria-hidden className="bg-inset block h-2.5 rounded-1">
        <span
          className={classNames('block h-full rounded-1', look)}
          style={{ width: `${(tokens / of) * 100}%` }}
        />
      </span>
    </div>
  );
}
