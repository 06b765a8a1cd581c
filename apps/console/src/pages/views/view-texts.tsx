import { texts } from '../../texts/index.js';
import { Field, Input, TextArea } from '../../ui/field.js';
import { isBudget } from './draft.js';
import type { ViewEdit } from './use-view-draft.js';

const { views: t } = texts;

interface ViewTextsProps {
  readonly edit: ViewEdit;
  readonly mayChange: boolean;
}

export function ViewTexts({ edit: { draft, change }, mayChange }: ViewTextsProps) {
  return (
    <div className="grid max-w-160 gap-3 px-5 py-4">
      <Field label={t.viewTitle}>
        <Input
          value={draft.title}
          disabled={!mayChange}
          onChange={(event) => change({ title: event.target.value })}
        />
      </Field>
      <Field label={t.description} hint={t.descriptionHint}>
        <TextArea
          rows={3}
          value={draft.description}
          disabled={!mayChange}
          onChange={(event) => change({ description: event.target.value })}
        />
      </Field>
      <Field
        label={t.budget}
        hint={t.budgetHint}
        error={isBudget(draft.budget) ? undefined : t.budgetInvalid}
      >
        <Input
          inputMode="numeric"
          value={draft.budget}
          disabled={!mayChange}
          onChange={(event) => change({ budget: event.target.value.trim() })}
        />
      </Field>
    </div>
  );
}
