import { useEffect, useState } from 'react';
import { reasonOf } from '../../api/refused.js';
import { texts } from '../../texts/index.js';
import { CopyButton } from '../../ui/copy-button.js';
import { Field, TextArea } from '../../ui/field.js';
import { Segmented } from '../../ui/segmented.js';
import { SkeletonRows } from '../../ui/pane.js';
import { useAddressState } from '../../ui/tabs.js';
import { documentOf, draftFrom } from './draft.js';
import type { ViewEdit } from './use-view-draft.js';

const { views: t } = texts;

interface Format {
  readonly read: (text: string) => unknown;
  readonly write: (value: unknown) => string;
}

const json: Format = {
  read: (text) => JSON.parse(text) as unknown,
  write: (value) => JSON.stringify(value, null, 2),
};

/** YAML is loaded when it is chosen. */
function useFormat(name: string): Format | undefined {
  const [yaml, setYaml] = useState<Format>();
  useEffect(() => {
    if (name !== 'yaml') return;
    void import('yaml').then(({ parse, stringify }) =>
      setYaml({ read: (text) => parse(text) as unknown, write: (value) => stringify(value) }),
    );
  }, [name]);
  return name === 'yaml' ? yaml : json;
}

interface RawViewProps {
  readonly edit: ViewEdit;
  readonly mayChange: boolean;
}

export function RawView({ edit, mayChange }: RawViewProps) {
  const [name, setName] = useAddressState('as', 'json');
  const format = useFormat(name);
  return (
    <div className="px-5 py-3">
      <div className="mb-2 flex flex-wrap items-center gap-3">
        <Segmented
          label={t.raw}
          value={name === 'yaml' ? 'yaml' : 'json'}
          options={[
            { value: 'json', label: 'JSON' },
            { value: 'yaml', label: 'YAML' },
          ]}
          onChange={setName}
        />
        {format && (
          <CopyButton text={format.write(shownOf(edit))} label={texts.common.copy} small={false} />
        )}
      </div>
      {format ? (
        <RawText key={name} format={format} edit={edit} mayChange={mayChange} />
      ) : (
        <SkeletonRows count={4} />
      )}
    </div>
  );
}

/** Without what is not set. */
function shownOf({ draft }: ViewEdit): object {
  const entries = Object.entries(documentOf(draft)).filter(([, value]) => value !== null);
  return Object.fromEntries(entries);
}

function RawText({ format, edit, mayChange }: RawViewProps & { readonly format: Format }) {
  const [typed, setTyped] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const take = (text: string): void => {
    setTyped(text);
    try {
      const draft = draftFrom(format.read(text));
      setProblem(draft ? undefined : t.rawInvalid(t.rawRules));
      if (draft) edit.change(draft);
    } catch (error) {
      setProblem(t.rawInvalid(reasonOf(error).split('\n')[0] ?? ''));
    }
  };
  // What is typed is shown as it is typed, until the changes are saved or undone.
  const text =
    typed !== undefined && (edit.isChanged || problem) ? typed : format.write(shownOf(edit));
  return (
    <Field label={t.raw} hint={t.rawHint} error={problem}>
      <TextArea
        mono
        rows={Math.min(28, Math.max(10, text.split('\n').length + 1))}
        readOnly={!mayChange}
        value={text}
        onChange={(event) => take(event.target.value)}
      />
    </Field>
  );
}
