import { FlaskConical } from 'lucide-react';
import { useState } from 'react';
import { texts } from '../../../texts/index.js';
import { Button } from '../../../ui/button.js';
import { JsonEditor } from '../../../ui/json-editor.js';
import { PlanRow } from './plan-row.js';
import { type PlannedEntry, usePlan } from './use-plan.js';
import { usePlanWork } from './use-plan-work.js';

const t = texts.servers.paste;

interface AddByPasteProps {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly onClose: () => void;
}

/** What clients use already becomes a plan: reviewed, tested, and saved entry by entry. */
export function AddByPaste({ text, onText, onClose }: AddByPasteProps) {
  const [choices, setChoices] = useState<Readonly<Record<string, boolean>>>({});
  const { entries, problem } = usePlan(text);
  const work = usePlanWork(() => {
    onText('');
    onClose();
  });
  const isChosen = ({ key, kind }: PlannedEntry): boolean =>
    (kind === 'new' || kind === 'changed') && (choices[key] ?? kind === 'new');
  const chosen = entries.filter(
    (entry) => isChosen(entry) && work.progress[entry.key]?.kind !== 'saved',
  );
  const change = (now: string): void => {
    onText(now);
    work.forget();
  };
  return (
    <div className="flex min-h-[calc(100dvh-var(--topbar)-var(--s10))] flex-col">
      <div className="grow">
        <p className="text-text-2 px-5 pt-4 pb-2 text-small">{t.lead}</p>
        <div className="mx-5">
          <JsonEditor
            label={t.editor}
            value={text}
            onChange={change}
            isOtherText={(other) => !other.trim().startsWith('{')}
            onSubmit={() => void work.test(chosen)}
          />
        </div>
        {text === '' && (
          <Button kind="ghost" small className="mx-3 my-1" onClick={() => change(t.example)}>
            {t.useExample}
          </Button>
        )}
        {problem !== undefined && (
          <p role="alert" className="text-bad px-5 pt-2 text-small">
            {problem}
          </p>
        )}
        {entries.length > 0 && (
          <section aria-label={t.plan} className="mt-3">
            <h3 className="border-line flex items-center justify-between border-b px-5 py-2">
              <span className="font-semibold">{t.plan}</span>
              <span className="text-text-3 text-small">{summaryOf(entries)}</span>
            </h3>
            <ul>
              {entries.map((entry) => (
                <PlanRow
                  key={entry.key}
                  entry={entry}
                  isChosen={isChosen(entry)}
                  progress={work.progress[entry.key]}
                  values={work.values}
                  onChoose={(value) => setChoices({ ...choices, [entry.key]: value })}
                  onValue={(name, value) => work.setValues({ ...work.values, [name]: value })}
                />
              ))}
            </ul>
          </section>
        )}
      </div>
      <PlanButtons chosen={chosen} work={work} onClose={onClose} />
    </div>
  );
}

function summaryOf(entries: readonly PlannedEntry[]): string {
  const of = { new: 0, known: 0, changed: 0, unusable: 0 };
  for (const { kind } of entries) of[kind] += 1;
  return t.summary(of);
}

interface PlanButtonsProps {
  readonly chosen: readonly PlannedEntry[];
  readonly work: ReturnType<typeof usePlanWork>;
  readonly onClose: () => void;
}

function PlanButtons({ chosen, work, onClose }: PlanButtonsProps) {
  const changed = chosen.filter(({ kind }) => kind === 'changed').length;
  const isNone = chosen.length === 0;
  return (
    <div className="border-line bg-inset sticky bottom-0 flex items-center gap-2 border-t px-5 py-3">
      <Button
        icon={FlaskConical}
        busy={work.isBusy}
        disabled={isNone}
        onClick={() => void work.test(chosen)}
      >
        {isNone ? texts.servers.trial.test : t.testAll(chosen.length)}
      </Button>
      <span className="grow" />
      <Button onClick={onClose}>{texts.common.cancel}</Button>
      <Button
        kind="primary"
        busy={work.isBusy}
        disabled={isNone}
        onClick={() => void work.saveAll(chosen)}
      >
        {isNone ? texts.servers.add : t.save(chosen.length - changed, changed)}
      </Button>
    </div>
  );
}
