import { texts } from '../../texts/index.js';
import { classNames } from '../class-names.js';
import { diff, type DiffLine, diffLines, type DiffPart, wordsOf } from './diff.js';
import { VisibleText } from './visible-text.js';

interface DiffProps {
  readonly before: string;
  readonly after: string;
  /** Parts to mark as dangerous. */
  readonly marked?: readonly string[];
}

/** Running text: what was removed is struck out, what was added is underlined. */
export function WordDiff({ before, after, marked = [] }: DiffProps) {
  return (
    <p className="[overflow-wrap:anywhere] whitespace-pre-wrap">
      {diff(wordsOf(before), wordsOf(after)).map(({ kind, items }, at) => {
        const text = <VisibleText marked={marked}>{items.join('')}</VisibleText>;
        if (kind === 'same') return <span key={at}>{text}</span>;
        return kind === 'removed' ? (
          <del key={at} className="bg-del text-text-2">
            {text}
          </del>
        ) : (
          <ins key={at} className="bg-add decoration-ok-mark decoration-2 underline-offset-4">
            {text}
          </ins>
        );
      })}
    </p>
  );
}

interface SideProps extends DiffProps {
  readonly side: 'before' | 'after';
  /** Compared line by line, such as JSON. */
  readonly isCode: boolean;
}

/** One of the two texts, with what the other has not marked. */
export function DiffSide({ before, after, side, isCode, marked = [] }: SideProps) {
  const split = (text: string): string[] =>
    isCode ? text.split('\n').map((line) => `${line}\n`) : wordsOf(text);
  const own = side === 'before' ? 'removed' : 'added';
  const tint = side === 'before' ? 'bg-del-2' : 'bg-add-2';
  return diff(split(before), split(after))
    .filter(({ kind }) => kind === 'same' || kind === own)
    .map(({ kind, items }, at) => (
      <span key={at} className={classNames(kind === own && tint)}>
        <VisibleText marked={marked}>{items.join('')}</VisibleText>
      </span>
    ));
}

const looks: Readonly<Record<DiffLine['kind'], string>> = {
  same: '',
  removed: 'bg-del',
  added: 'bg-add',
  fold: 'text-text-3',
};

const signs: Readonly<Record<DiffLine['kind'], string>> = {
  same: ' ',
  removed: '−',
  added: '+',
  fold: '⋯',
};

/** Lines, such as those of JSON, with what differs inside a line marked. */
export function LineDiff({ before, after, marked = [] }: DiffProps) {
  return (
    <div
      // Focusable, so that the keyboard can scroll it.
      tabIndex={0}
      className="border-line bg-inset max-h-120 overflow-auto rounded-2 border py-1.5 font-mono text-small"
    >
      <div className="w-max min-w-full">
        {diffLines(before, after).map((line, at) => (
          <div key={at} className={classNames('flex gap-2 px-2 whitespace-pre', looks[line.kind])}>
            <span className="text-text-3 w-8 shrink-0 text-right select-none" aria-hidden>
              {line.kind === 'fold' ? '' : line.number}
            </span>
            <span className="w-3 shrink-0 select-none">{signs[line.kind]}</span>
            <span>
              {line.kind === 'fold' ? (
                texts.common.sameLines(line.folded)
              ) : (
                <LineText line={line} marked={marked} />
              )}
            </span>
          </div>
        ))}
      </div>
    </div>
  );
}

interface LineTextProps {
  readonly line: DiffLine;
  readonly marked: readonly string[];
}

function LineText({ line, marked }: LineTextProps) {
  const { words, kind, text } = line;
  if (!words) return <VisibleText marked={marked}>{text}</VisibleText>;
  const own = words.filter((part: DiffPart<string>) => part.kind === 'same' || part.kind === kind);
  return own.map((part, at) => (
    <span
      key={at}
      className={classNames(
        part.kind === 'removed' && 'bg-del-2',
        part.kind === 'added' && 'bg-add-2',
      )}
    >
      <VisibleText marked={marked}>{part.items.join('')}</VisibleText>
    </span>
  ));
}
