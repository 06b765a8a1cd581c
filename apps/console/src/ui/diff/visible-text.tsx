import { Fragment, type ReactNode } from 'react';

/**
 * Characters that are not seen or change the direction of others: what a model reads and a person does not. Line feeds
 * and tabs are seen.
 */
const INVISIBLE = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

export function invisibleCount(text: string): number {
  return text.match(INVISIBLE)?.length ?? 0;
}

/** Splits a text at every match; matches are at odd places. */
function splitAt(text: string, pattern: RegExp): string[] {
  const pieces: string[] = [];
  let from = 0;
  for (const match of text.matchAll(pattern)) {
    pieces.push(text.slice(from, match.index), match[0]);
    from = match.index + match[0].length;
  }
  return [...pieces, text.slice(from)];
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

interface VisibleTextProps {
  readonly children: string;
  /** Parts to mark as dangerous, in any case. */
  readonly marked?: readonly string[];
}

/** Text of a server with its invisible characters shown as their code points. */
export function VisibleText({ children, marked = [] }: VisibleTextProps) {
  const wanted = marked.filter((part) => part !== '').map(escaped);
  if (wanted.length === 0) return <Characters text={children} />;
  return splitAt(children, new RegExp(wanted.join('|'), 'giu')).map((piece, at) =>
    at % 2 === 0 ? (
      <Characters key={at} text={piece} />
    ) : (
      <mark key={at} className="bg-del-2 text-text border-bad border-b-2">
        <Characters text={piece} />
      </mark>
    ),
  );
}

function Characters({ text }: { readonly text: string }): ReactNode {
  return splitAt(text, INVISIBLE).map((piece, at) =>
    at % 2 === 0 ? (
      <Fragment key={at}>{piece}</Fragment>
    ) : (
      <span key={at} className="bg-bad text-text-inv mx-0.5 rounded-1 px-1 font-mono text-label">
        {codePoint(piece)}
      </span>
    ),
  );
}
