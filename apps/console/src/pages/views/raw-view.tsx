import { useState } from 'react';
import { reasonOf } from '../../api/refused.js';
import { texts } from '../../texts/index.js';
import { CopyButton } from '../../ui/copy-button.js';
import { Field, TextArea } from '../../ui/field.js';
import { documentOf, draftFrom } from './draft.js';
import type { ViewEdit } from './use-view-draft.js';

const { views: t } = texts;

interface RawViewProps {
  readonly edit: ViewEdit;
  readonly mayChange: boolean;
}

/** As JSON, which the command line and the servers file take; YAML would need 29 KiB of script here. */
export function RawView(props: RawViewProps) {
  return (
    <div className="px-5 py-3">
      <div className="mb-2">
        <CopyButton text={textOf(props.edit)} label={texts.common.copy} small={false} />
      </div>
      <RawText {...props} />
    </div>
  );
}

function textOf(edit: ViewEdit): string {
  return JSON.stringify(shownOf(edit), null, 2);
}

/** Without what is not set. */
function shownOf({ draft }: ViewEdit): object {
  const entries = Object.entries(documentOf(draft)).filter(([, value]) => value !== null);
  return Object.fromEntries(entries);
}

function RawText({ edit, mayChange }: RawViewProps) {
  const [typed, setTyped] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const take = (text: string): void => {
    setTyped(text);
    try {
      const draft = draftFrom(JSON.parse(text) as unknown);
      setProblem(draft ? undefined : t.rawInvalid(t.rawRules));
      if (draft) edit.change(draft);
    } catch (error) {
      setProblem(t.rawInvalid(reasonOf(error).split('\n')[0] ?? ''));
    }
  };
  // What is typed is shown as it is typed, until the changes are saved or undone.
  const text = typed !== undefined && (edit.isChanged || problem) ? typed : textOf(edit);
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
