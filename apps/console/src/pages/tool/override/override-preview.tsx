import { Equal } from 'lucide-react';
import { texts } from '../../../texts/index.js';
import { LineDiff, WordDiff } from '../../../ui/diff/text-diff.js';
import type { Shape } from './override-draft.js';

interface OverridePreviewProps {
  readonly before: Shape;
  readonly after: Shape;
}

/** What clients get instead of the definition of the server, as the fields are written now. */
export function OverridePreview({ before, after }: OverridePreviewProps) {
  const words = (['name', 'title', 'description'] as const).filter(
    (member) => before[member] !== after[member],
  );
  const [schemaBefore, schemaAfter] = [before.inputSchema, after.inputSchema].map((schema) =>
    JSON.stringify(schema, undefined, 2),
  );
  const isSameSchema = schemaBefore === schemaAfter;
  return (
    <section aria-label={texts.tool.preview} className="min-w-0 p-5">
      <h2 className="mb-3 font-semibold">{texts.tool.preview}</h2>
      {words.length === 0 && isSameSchema && (
        <p className="text-text-2 flex items-center gap-2">
          <Equal size={14} aria-hidden /> {texts.tool.previewNone}
        </p>
      )}
      {words.map((member) => (
        <div key={member} className="mb-4">
          <h3 className="mb-1 font-mono text-small">{member}</h3>
          <div className="border-line rounded-2 border px-4 py-2">
            <WordDiff before={before[member]} after={after[member]} />
          </div>
        </div>
      ))}
      {!isSameSchema && (
        <>
          <h3 className="mb-1 font-mono text-small">inputSchema</h3>
          <LineDiff before={schemaBefore ?? ''} after={schemaAfter ?? ''} />
        </>
      )}
    </section>
  );
}
