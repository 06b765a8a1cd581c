import { classNames } from './class-names.js';
import { CopyButton } from './copy-button.js';

interface CodeBlockProps {
  readonly code: string;
  readonly className?: string;
  /** Long lines break instead of scrolling. */
  readonly wrap?: boolean;
}

export function CodeBlock({ code, className, wrap = false }: CodeBlockProps) {
  return (
    <div className={classNames('border-line bg-inset relative rounded-2 border', className)}>
      <pre
        // Focusable, so that the keyboard can scroll it.
        tabIndex={0}
        className={classNames(
          'max-h-120 overflow-auto py-2 pr-9 pl-3 font-mono text-small',
          wrap && '[overflow-wrap:anywhere] whitespace-pre-wrap',
        )}
      >
        <code>{code}</code>
      </pre>
      <div className="absolute top-1 right-1">
        <CopyButton text={code} />
      </div>
    </div>
  );
}
