import type { SkillView } from '@app/api-client';
import { useState } from 'react';
import { reasonOf } from '../../api/refused.js';
import { texts } from '../../texts/index.js';
import { Banner } from '../../ui/banner.js';
import { Button } from '../../ui/button.js';
import { Field, Input, TextArea } from '../../ui/field.js';
import { SidePanel } from '../../ui/side-panel.js';
import { useSaveSkill } from './skill-queries.js';

interface SkillFormProps {
  /** Absent: a new one. */
  readonly skill?: SkillView;
  readonly onClose: () => void;
}

const FORM = 'skill-form';
const SKILL_ID = /^[a-z][a-z0-9_]*$/;

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

export function SkillForm({ skill, onClose }: SkillFormProps) {
  const [id, setId] = useState(skill?.id ?? '');
  const [name, setName] = useState(skill?.name ?? '');
  const [description, setDescription] = useState(skill?.description ?? '');
  const [sentences, setSentences] = useState(skill?.prototypes.join('\n') ?? '');
  const save = useSaveSkill();
  const isComplete = SKILL_ID.test(id) && name.trim() !== '' && description.trim() !== '';
  const submit = (): void => {
    const prototypes = linesOf(sentences);
    const change = { name: name.trim(), description: description.trim(), prototypes };
    save.mutate(
      skill
        ? { kind: 'update', id: skill.id, change }
        : {
            kind: 'create',
            // Without sentences the service takes the description for one.
            skill: {
              id,
              name: change.name,
              description: change.description,
              ...(prototypes.length > 0 && { prototypes }),
            },
          },
      { onSuccess: onClose },
    );
  };
  return (
    <SidePanel
      isOpen
      onClose={onClose}
      title={skill ? texts.skills.editTitle(skill.name) : texts.skills.addTitle}
      footer={
        <>
          <Button onClick={onClose}>{texts.common.cancel}</Button>
          <Button
            kind="primary"
            type="submit"
            form={FORM}
            busy={save.isPending}
            disabled={!isComplete}
          >
            {texts.skills.save}
          </Button>
        </>
      }
    >
      <form
        id={FORM}
        className="flex flex-col gap-4 p-5"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        {save.isError && <Banner kind="bad">{reasonOf(save.error)}</Banner>}
        {!skill && (
          <Field
            label={texts.skills.idLabel}
            hint={texts.skills.idHint}
            error={id !== '' && !SKILL_ID.test(id) ? texts.skills.idBad : undefined}
          >
            <Input mono value={id} onChange={(event) => setId(event.target.value)} />
          </Field>
        )}
        <Field label={texts.skills.nameLabel}>
          <Input value={name} onChange={(event) => setName(event.target.value)} />
        </Field>
        <Field label={texts.skills.descriptionLabel} hint={texts.skills.descriptionHint}>
          <TextArea
            rows={4}
            value={description}
            onChange={(event) => setDescription(event.target.value)}
          />
        </Field>
        <Field label={texts.skills.prototypes} hint={texts.skills.prototypesHint}>
          <TextArea
            rows={6}
            value={sentences}
            onChange={(event) => setSentences(event.target.value)}
          />
        </Field>
        <p className="text-text-3 text-small">{texts.skills.addHint}</p>
      </form>
    </SidePanel>
  );
}
