import { VisibleText } from '../../../ui/diff/visible-text.js';

const MAX_CHARS = 100_000;

/** Text of a server: never HTML, invisible characters shown. */
export function ResultText({ blocks }: { readonly blocks: readonly string[] }) {
  return blocks.map((text, at) => (
    <pre
      key={at}
      className="border-line border-b px-5 py-3 font-mono text-small [overflow-wrap:anywhere] whitespace-pre-wrap last:border-b-0"
    >
      <VisibleText>{text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)} …` : text}</VisibleText>
    </pre>
  ));
}
