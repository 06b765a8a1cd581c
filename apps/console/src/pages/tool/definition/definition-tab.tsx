import type { ToolDetailView } from '@app/api-client';
import { useState } from 'react';
import { texts } from '../../../texts/index.js';
import { CodeBlock } from '../../../ui/code-block.js';
import { Pane } from '../../../ui/pane.js';
import { Segmented } from '../../../ui/segmented.js';
import { VisibleText } from '../../../ui/diff/visible-text.js';
import { schemaRows } from './schema-rows.js';
import { SchemaTable } from './schema-table.js';
import { ToolFacts } from './tool-facts.js';

export function DefinitionTab({ tool }: { readonly tool: ToolDetailView }) {
  const { description, input_schema: input, output_schema: output } = tool;
  const count = schemaRows(input).filter(({ depth }) => depth === 0).length;
  return (
    <div className="flex min-h-full flex-col rail:flex-row">
      <div className="min-w-0 grow">
        <Pane title={texts.tool.description}>
          <p className="max-w-200 px-5 pt-1 pb-4 [overflow-wrap:anywhere] whitespace-pre-wrap">
            {description === '' ? (
              <span className="text-text-3">{texts.tool.noDescription}</span>
            ) : (
              <VisibleText>{description}</VisibleText>
            )}
          </p>
        </Pane>
        <Pane title={texts.tool.arguments} aside={count} className="border-b-0">
          {count === 0 ? (
            <p className="text-text-2 border-line border-b px-5 pt-1 pb-4">
              {texts.tool.noArguments}
            </p>
          ) : (
            <SchemaTable schema={input} head={texts.tool.argument} />
          )}
        </Pane>
        {output && (
          <Pane title={texts.tool.output} className="border-b-0">
            <SchemaTable schema={output} head={texts.tool.member} />
          </Pane>
        )}
        <RawDefinition tool={tool} />
      </div>
      <aside className="border-line shrink-0 rail:w-76 rail:border-l">
        <ToolFacts tool={tool} />
      </aside>
    </div>
  );
}

function RawDefinition({ tool }: { readonly tool: ToolDetailView }) {
  const [which, setWhich] = useState<'offered' | 'listed'>('offered');
  const { listed_definition: listed } = tool;
  const offered = {
    name: tool.name,
    title: tool.title ?? undefined,
    description: tool.description,
    inputSchema: tool.input_schema,
    outputSchema: tool.output_schema ?? undefined,
    annotations: tool.annotations,
  };
  const shown = which === 'listed' && listed ? listed : offered;
  return (
    <Pane
      title={texts.tool.raw}
      actions={
        listed && (
          <Segmented
            label={texts.tool.raw}
            value={which}
            options={[
              { value: 'offered', label: texts.tool.rawOffered },
              { value: 'listed', label: texts.tool.rawListed },
            ]}
            onChange={setWhich}
          />
        )
      }
    >
      <CodeBlock code={JSON.stringify(shown, undefined, 2)} className="mx-5 mt-1 mb-5" />
    </Pane>
  );
}
