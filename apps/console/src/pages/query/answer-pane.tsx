import { SearchX } from 'lucide-react';
import { texts } from '../../texts/index.js';
import { CodeBlock } from '../../ui/code-block.js';
import { Empty, Pane } from '../../ui/pane.js';
import { Segmented } from '../../ui/segmented.js';
import { useAddressState } from '../../ui/tabs.js';
import { ResultRow } from './result-row.js';
import type { QueryAnswer, QueryResult } from './query-answer.js';

const { query: t } = texts;

const shapes = ['merged', 'server', 'client'] as const;

/** What the client got: merged, by server, or as JSON. */
export function AnswerPane({ answer }: { readonly answer: QueryAnswer }) {
  const [given, setShape] = useAddressState('as', 'merged');
  const shape = shapes.find((one) => one === given) ?? 'merged';
  const { results, metadata } = answer;
  const { resultsReturned, totalResultsDedup: unique = 0, totalResultsRaw: raw = 0 } = metadata;
  return (
    <Pane
      title={t.answer}
      aside={t.answerAside(resultsReturned, unique, raw)}
      actions={
        <Segmented
          label={t.answer}
          value={shape}
          options={shapes.map((value) => ({ value, label: t.shapes[value] }))}
          onChange={setShape}
        />
      }
      className="border-b-0"
    >
      {results.length === 0 && (
        <Empty icon={SearchX} title={t.nothing}>
          {t.nothingHint}
        </Empty>
      )}
      {shape === 'merged' && <Results results={results} answer={answer} />}
      {shape === 'server' &&
        [...new Set(results.map(({ server }) => server))].map((server) => (
          <div key={server}>
            <h3 className="bg-inset border-line mt-2 border-y px-5 py-1.5 font-mono text-small font-medium">
              {server}
            </h3>
            <Results
              results={results.filter((result) => result.server === server)}
              answer={answer}
            />
          </div>
        ))}
      {shape === 'client' && (
        <CodeBlock className="m-5" wrap code={JSON.stringify(asTheClientGotIt(answer), null, 2)} />
      )}
    </Pane>
  );
}

interface ResultsProps {
  readonly results: readonly QueryResult[];
  readonly answer: QueryAnswer;
}

function Results({ results, answer }: ResultsProps) {
  const folded = answer.metadata.explanation?.folded ?? [];
  return (
    <ol className="mt-1">
      {results.map((result) => (
        <ResultRow
          key={result.rank}
          result={result}
          folded={folded.filter(({ into }) => into === result.rank)}
        />
      ))}
    </ol>
  );
}

/** A client does not ask for the explanation. */
function asTheClientGotIt({ results, metadata }: QueryAnswer): object {
  const { explanation: _explanation, ...rest } = metadata;
  return { results, metadata: rest };
}
