import { useId, useRef } from 'react';
import { reasonOf } from '../api/refused.js';

interface JsonEditorProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly onSubmit?: (() => void) | undefined;
  /** Text that is no JSON and may be typed all the same, such as an address. */
  readonly isOtherText?: (text: string) => boolean;
}

const MIN_LINES = 8;
const MAX_LINES = 28;

function problemOf({ value, isOtherText }: JsonEditorProps): string | undefined {
  if (value.trim() === '' || isOtherText?.(value) === true) return undefined;
  try {
    JSON.parse(value);
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

/** A field for JSON with line numbers, which says what is wrong with it. ⌘↵ submits. */
export function JsonEditor(props: JsonEditorProps) {
  const { label, value, onChange, onSubmit } = props;
  const id = useId();
  const numbers = useRef<HTMLPreElement>(null);
  const problem = problemOf(props);
  const lines = value.split('\n').length;
  return (
    <div>
      <div className="border-control-line bg-inset flex overflow-hidden rounded-2 border font-mono text-small focus-within:shadow-(--focus)">
        <pre
          ref={numbers}
          aria-hidden
          className="text-text-3 max-h-120 shrink-0 overflow-hidden py-2 pr-2 pl-3 text-right"
        >
          {Array.from({ length: lines }, (_, at) => at + 1).join('\n')}
        </pre>
        <textarea
          aria-label={label}
          aria-invalid={problem !== undefined}
          aria-describedby={problem === undefined ? undefined : id}
          spellCheck={false}
          autoCapitalize="off"
          wrap="off"
          rows={Math.min(MAX_LINES, Math.max(MIN_LINES, lines))}
          value={value}
          onChange={(event) => onChange(event.target.value)}
          onScroll={({ currentTarget }) => {
            if (numbers.current) numbers.current.scrollTop = currentTarget.scrollTop;
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return;
            event.preventDefault();
            onSubmit?.();
          }}
          className="max-h-120 grow resize-y bg-transparent py-2 pr-3 !shadow-none outline-none"
        />
      </div>
      {problem !== undefined && (
        <p id={id} className="text-bad mt-1 text-label [overflow-wrap:anywhere]">
          {problem}
        </p>
      )}
    </div>
  );
}
