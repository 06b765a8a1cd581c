import type { SearchView } from '@app/api-client';
import { texts } from '../../texts/index.js';
import { classNames } from '../../ui/class-names.js';
import { useAddressState } from '../../ui/tabs.js';

const { search: t } = texts;

/** The intents that were found in the query; a click shows the hits of one. */
export function Clauses({ answer }: { readonly answer: SearchView }) {
  const [chosen, setChosen] = useAddressState('clause', '');
  const clauses = answer.explanation?.clauses ?? [];
  if (clauses.length === 0) return null;
  return (
    <div
      role="group"
      aria-label={t.clauses}
      className="flex flex-wrap items-center gap-2 text-small"
    >
      <span className="text-text-2">{t.clauses}</span>
      {clauses.map((text, at) => {
        const id = String(at + 1);
        return (
          <button
            key={id}
            type="button"
            aria-pressed={chosen === id}
            onClick={() => setChosen(chosen === id ? '' : id)}
            className={classNames(
              'inline-flex min-h-6 items-center gap-1.5 rounded-2 border px-2 text-left',
              chosen === id ? 'border-accent-line bg-accent-weak' : 'border-line-2 hover:bg-hover',
            )}
          >
            <span className="text-accent font-medium whitespace-nowrap">{t.clause(at + 1)}</span>{' '}
            {text}
          </button>
        );
      })}
    </div>
  );
}
