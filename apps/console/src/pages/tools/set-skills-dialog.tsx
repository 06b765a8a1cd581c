import type { SkillView } from '@app/api-client';
import { useState } from 'react';
import { ask } from '../../api/service.js';
import type { ToolRow } from '../../model/tool-row.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Checkbox, FilterInput } from '../../ui/field.js';
import { useBulk } from './use-bulk.js';

const t = texts.tools;
const MAX_SKILLS = 3;

interface SetSkillsDialogProps {
  readonly tools: readonly ToolRow[];
  /** Selected tools that have no skills because they are withheld. */
  readonly left: number;
  readonly skills: readonly SkillView[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function SetSkillsDialog({ tools, left, skills, onClose, onDone }: SetSkillsDialogProps) {
  const [ids, setIds] = useState<readonly string[]>([]);
  const [text, setText] = useState('');
  const { run, done } = useBulk(({ id }: ToolRow) =>
    ask((api) =>
      api.overrideToolSkills({ path: { id: Number(id) }, body: { skill_ids: [...ids] } }),
    ),
  );
  const shown = skills.filter(({ id, name }) =>
    `${id} ${name}`.toLowerCase().includes(text.toLowerCase()),
  );
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t.skillsTitle(tools.length)}
      footer={
        <>
          <Button onClick={onClose}>{texts.common.cancel}</Button>
          <Button
            kind="primary"
            disabled={ids.length === 0}
            busy={done !== undefined}
            onClick={() => void run(tools).then(onDone)}
          >
            {done === undefined ? t.skillsNow(tools.length) : t.working(done, tools.length)}
          </Button>
        </>
      }
    >
      <p className="text-text-2">{t.skillsEffect}</p>
      {left > 0 && <p className="text-text-2">{t.skillsWithheld(left)}</p>}
      <FilterInput
        label={t.skill}
        value={text}
        className="mt-3"
        onChange={(event) => setText(event.target.value)}
      />
      <ul className="border-line mt-2 max-h-60 overflow-auto rounded-2 border py-1">
        {shown.map(({ id, name }) => (
          <li key={id}>
            <label className="hover:bg-hover flex min-h-7 items-center gap-2 px-3">
              <Checkbox
                checked={ids.includes(id)}
                disabled={!ids.includes(id) && ids.length >= MAX_SKILLS}
                onChange={(event) =>
                  setIds(event.target.checked ? [...ids, id] : ids.filter((one) => one !== id))
                }
              />
              {name}
              {ids.includes(id) && (
                <span className="text-text-3 ml-auto text-small">{ids.indexOf(id) + 1}</span>
              )}
            </label>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
