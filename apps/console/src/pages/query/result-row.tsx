import { ChevronDown, ChevronRight, CornerDownRight } from 'lucide-react';
import { useState } from 'react';
import { texts } from '../../texts/index.js';
import { classNames } from '../../ui/class-names.js';
import { useAddressState } from '../../ui/tabs.js';
import type { FoldedPassage, QueryResult } from './query-answer.js';

const { query: t } = texts;
/** Longer texts are shown by their beginning. */
const LONG_CHARS = 320;

interface ResultRowProps {
  readonly result: QueryResult;
  readonly folded: readonly FoldedPassage[];
}

/** A passage with where it comes from; its duplicates unfold in place. */
export function ResultRow({ result, folded }: ResultRowProps) {
  const [open, setOpen] = useAddressState('open', '');
  const { rank, content, relevanceScore: score } = result;
  const isOpen = open === String(rank);
  const Icon = isOpen ? ChevronDown : ChevronRight;
  return (
    <li className="border-line border-t px-5 py-2">
      <div className="grid grid-cols-[20px_minmax(0,1fr)] items-start gap-x-3 gap-y-1 tab:grid-cols-[20px_minmax(0,1fr)_132px]">
        <span className="text-text-2 text-right" aria-label={t.rank(rank)}>
          {rank}
        </span>
        <div className="min-w-0">
          <Content text={content} />
          <Sources result={result} />
        </div>
        <div className="col-start-2 grid justify-items-start gap-1 tab:col-start-3 tab:justify-items-end">
          <Relevance score={score} />
          {folded.length > 0 && (
            <button
              type="button"
              aria-expanded={isOpen}
              onClick={() => setOpen(isOpen ? '' : String(rank))}
              className="text-accent inline-flex min-h-6 items-center gap-1 text-small"
            >
              <Icon size={13} aria-hidden /> {t.folded(folded.length)}
            </button>
          )}
        </div>
      </div>
      {isOpen && <Folded folded={folded} />}
    </li>
  );
}

/** Text of a server: shown as it is, never as HTML. */
function Content({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false);
  const isLong = text.length > LONG_CHARS;
  return (
    <>
      <p
        className={classNames(
          '[overflow-wrap:anywhere] whitespace-pre-wrap',
          isLong && !isWhole && 'line-clamp-3',
        )}
      >
        {text}
      </p>
      {isLong && (
        <button
          type="button"
          aria-expanded={isWhole}
          className="text-accent text-small"
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole ? t.less : t.more}
        </button>
      )}
    </>
  );
}

function Sources({ result }: { readonly result: QueryResult }) {
  const { server, tool, url, sources } = result;
  const own = { server, ...(tool !== undefined && { tool }), ...(url !== undefined && { url }) };
  const all = sources ?? [own];
  return (
    <p className="mt-1 flex flex-wrap gap-1.5">
      {all.map((source, at) => (
        <span
          key={at}
          title={source.url}
          className="bg-idle-weak text-text-2 rounded-1 px-1.5 font-mono text-label [overflow-wrap:anywhere]"
        >
          {source.tool === undefined ? source.server : `${source.server}.${source.tool}`}
        </span>
      ))}
    </p>
  );
}

function Relevance({ score }: { readonly score: number }) {
  return (
    <span className="inline-flex items-center gap-2" title={t.relevance}>
      <span aria-hidden className="bg-idle-weak block h-2 w-18 overflow-hidden rounded-1">
        <span className="bg-c1 block h-full" style={{ width: `${score * 100}%` }} />
      </span>
      <span className="w-9 text-right font-semibold">{score.toFixed(2)}</span>
    </span>
  );
}

function Folded({ folded }: { readonly folded: readonly FoldedPassage[] }) {
  return (
    <ul className="mt-1 pl-8">
      {folded.map(({ server, tool, beginning }, at) => (
        <li key={at} className="flex items-start gap-2 py-0.5 text-small">
          <CornerDownRight size={13} aria-hidden className="text-accent mt-0.5 shrink-0" />
          <span className="min-w-0 grow [overflow-wrap:anywhere]">{beginning}</span>
          <span className="text-text-2 shrink-0 font-mono text-label">{`${server}.${tool}`}</span>
        </li>
      ))}
    </ul>
  );
}
