import { texts } from '../../../texts/index.js';
import { Checkbox, Field, Input, TextArea } from '../../../ui/field.js';
import { argumentNames, badPresets, type OverrideDraft, type Shape } from './override-draft.js';

interface OverrideFieldsProps {
  readonly draft: OverrideDraft;
  readonly listed: Shape;
  readonly onChange: (draft: OverrideDraft) => void;
}

export function OverrideFields({ draft, listed, onChange }: OverrideFieldsProps) {
  const set = (part: Partial<OverrideDraft>): void => onChange({ ...draft, ...part });
  return (
    <>
      <div className="grid gap-4 tab:grid-cols-2">
        <Field label={texts.tool.oName} hint={texts.tool.oNameHint}>
          <Input
            mono
            value={draft.name}
            placeholder={listed.name}
            onChange={(event) => set({ name: event.target.value })}
          />
        </Field>
        <Field label={texts.tool.oTitle}>
          <Input
            value={draft.title}
            placeholder={listed.title}
            onChange={(event) => set({ title: event.target.value })}
          />
        </Field>
      </div>
      <Field label={texts.tool.oDescription}>
        <TextArea
          rows={5}
          value={draft.description}
          placeholder={listed.description}
          onChange={(event) => set({ description: event.target.value })}
        />
      </Field>
      <ArgumentFields draft={draft} listed={listed} onChange={onChange} />
      <Field label={texts.tool.oBudget} hint={texts.tool.oBudgetHint} className="max-w-80">
        <Input
          type="number"
          min={1}
          value={draft.budget}
          onChange={(event) => set({ budget: event.target.value })}
        />
      </Field>
    </>
  );
}

function ArgumentFields({ draft, listed, onChange }: OverrideFieldsProps) {
  // An override may name arguments that the server no longer has.
  const names = [
    ...new Set([
      ...argumentNames(listed.inputSchema),
      ...draft.hidden,
      ...Object.keys(draft.presets),
    ]),
  ];
  const bad = new Set(badPresets(draft));
  if (names.length === 0) return null;
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 text-small font-medium">{texts.tool.oArguments}</legend>
      <p className="text-text-3 mb-2 text-label">{texts.tool.oArgumentsHint}</p>
      <ul className="border-line divide-line divide-y rounded-2 border">
        {names.map((name) => (
          <li
            key={name}
            className="grid grid-cols-[1fr_auto] items-center gap-x-3 gap-y-1 px-3 py-1.5 tab:grid-cols-[1fr_auto_1fr]"
          >
            <span className="font-mono text-small [overflow-wrap:anywhere]">{name}</span>
            <label className="flex items-center gap-1.5 text-small">
              <Checkbox
                checked={draft.hidden.includes(name)}
                onChange={(event) =>
                  onChange({
                    ...draft,
                    hidden: event.target.checked
                      ? [...draft.hidden, name]
                      : draft.hidden.filter((other) => other !== name),
                  })
                }
              />
              {texts.tool.oHidden}
            </label>
            <div className="col-span-2 tab:col-span-1">
              <Input
                mono
                aria-label={`${texts.tool.oPreset}: ${name}`}
                aria-invalid={bad.has(name)}
                placeholder={texts.tool.oPreset}
                value={draft.presets[name] ?? ''}
                onChange={(event) =>
                  onChange({
                    ...draft,
                    presets: { ...draft.presets, [name]: event.target.value },
                  })
                }
              />
              {bad.has(name) && <p className="text-bad mt-1 text-label">{texts.tool.oPresetBad}</p>}
            </div>
          </li>
        ))}
      </ul>
    </fieldset>
  );
}
