import type { ToolDetailView } from '@app/api-client';
import { type KeyboardEvent, useState } from 'react';
import { isJsonObject, type JsonObject, parseObject } from '../../../mcp/json.js';
import { mayDestroy } from '../../../model/annotations.js';
import { texts } from '../../../texts/index.js';
import { ConfirmDialog } from '../../../ui/dialog.js';
import { JsonEditor } from '../../../ui/json-editor.js';
import { Segmented } from '../../../ui/segmented.js';
import { SchemaForm } from '../../../ui/schema-form/lazy-schema-form.js';
import { useCheck } from '../../../ui/schema-form/use-check.js';
import { useAddressState } from '../../../ui/tabs.js';
import { draftOf, keepDraft } from './drafts.js';
import { PresetLines } from './preset-lines.js';
import { RunBar } from './run-bar.js';

const ways = [
  { value: 'form', label: texts.tool.form },
  { value: 'json', label: texts.tool.json },
] as const;

interface ArgumentsPaneProps {
  readonly tool: ToolDetailView;
  readonly onRun: (args: JsonObject) => void;
}

/** The arguments as a form or as JSON. A form that does not fit the schema does not run; JSON does, with a warning. */
export function ArgumentsPane({ tool, onRun }: ArgumentsPaneProps) {
  const { id, input_schema: schema } = tool;
  const [way, setWay] = useAddressState('way', 'form');
  const isJson = way === 'json';
  const [args, setArgs] = useState(() => draftOf(id));
  const [text, setText] = useState(() => JSON.stringify(draftOf(id), undefined, 2));
  const [wasTried, setTried] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const [formKey, setFormKey] = useState(0);
  const problems = useCheck(schema, args) ?? [];
  const isReadable = !isJson || parseObject(text) !== undefined;
  const change = (next: JsonObject): void => {
    setArgs(next);
    keepDraft(id, next);
  };
  const start = (): void => {
    setAsking(false);
    onRun(args);
  };
  const run = (): void => {
    setTried(true);
    if (!isReadable || (!isJson && problems.length > 0)) return;
    if (mayDestroy(tool.annotations)) setAsking(true);
    else start();
  };
  const reset = (): void => {
    change({});
    setText('{}');
    setTried(false);
    setFormKey(formKey + 1);
  };
  const onKey = (event: KeyboardEvent): void => {
    if (!(event.metaKey || event.ctrlKey) || event.key !== 'Enter' || event.defaultPrevented)
      return;
    event.preventDefault();
    run();
  };
  return (
    <section onKeyDown={onKey}>
      <Head
        isJson={isJson}
        onChange={(to) => {
          setText(JSON.stringify(args, undefined, 2));
          setWay(to);
        }}
      />
      <div className="px-5 py-3">
        {isJson ? (
          <JsonEditor
            label={texts.tool.argumentsJson}
            value={text}
            onChange={(next) => {
              setText(next);
              const parsed = parseObject(next);
              if (parsed) change(parsed);
            }}
            onSubmit={run}
          />
        ) : (
          <SchemaForm
            key={formKey}
            id={`try-${id}`}
            schema={schema}
            value={args}
            labels="names"
            showsMissing={wasTried}
            onChange={(next) => isJsonObject(next) && change(next)}
          />
        )}
        {!isJson && hasNoArguments(schema) && (
          <p className="text-text-2">{texts.tool.noArguments}</p>
        )}
        <PresetLines toolId={id} />
      </div>
      <RunBar
        tool={tool}
        isReadable={isReadable}
        problems={
          wasTried || isJson ? problems : problems.filter((one) => one.keyword !== 'required')
        }
        runsAnyway={isJson}
        onReset={reset}
        onRun={run}
      />
      <ConfirmDialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={texts.tool.confirmRunTitle(tool.name)}
        confirmLabel={texts.tool.run}
        onConfirm={start}
      >
        {texts.tool.confirmRun}
      </ConfirmDialog>
    </section>
  );
}

interface HeadProps {
  readonly isJson: boolean;
  readonly onChange: (way: string) => void;
}

function Head({ isJson, onChange }: HeadProps) {
  return (
    <div className="flex min-h-10 items-center gap-2 px-5 pt-2">
      <h2 className="font-semibold">{texts.tool.arguments}</h2>
      <div className="ml-auto">
        <Segmented
          label={texts.tool.way}
          value={isJson ? 'json' : 'form'}
          options={ways}
          onChange={onChange}
        />
      </div>
    </div>
  );
}

function hasNoArguments({ properties, additionalProperties }: JsonObject): boolean {
  const isEmpty = !isJsonObject(properties) || Object.keys(properties).length === 0;
  return isEmpty && (additionalProperties === undefined || additionalProperties === false);
}
