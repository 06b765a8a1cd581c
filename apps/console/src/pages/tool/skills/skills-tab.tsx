import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { SkillView, ToolDetailView, ToolSkillsView } from '@app/api-client';
import { Star, X } from 'lucide-react';
import { useState } from 'react';
import { toast } from 'sonner';
import { skillsQuery } from '../../../api/queries.js';
import { ask } from '../../../api/service.js';
import { useMay } from '../../../session/session.js';
import { texts } from '../../../texts/index.js';
import { Badge } from '../../../ui/badge.js';
import { Button } from '../../../ui/button.js';
import { Field, Select } from '../../../ui/field.js';
import { percent } from '../../../ui/format.js';
import { ErrorPane, NoRight, SkeletonRows } from '../../../ui/pane.js';
import { toolSkillsQuery } from '../tool-queries.js';

const MAX_SKILLS = 3;

export function SkillsTab({ tool }: { readonly tool: ToolDetailView }) {
  const { data, error, refetch } = useQuery(toolSkillsQuery(tool.id));
  if (error) {
    return (
      <ErrorPane
        title={texts.errors.couldNotBeRead(texts.tool.skills)}
        error={error}
        onRetry={() => void refetch()}
      />
    );
  }
  if (!data) return <SkeletonRows count={3} />;
  const key = JSON.stringify([data.skills, data.is_override]);
  return <ToolSkills key={key} toolId={tool.id} found={data} />;
}

/** One to three skills, the primary one first; what a person chooses no classifier changes. */
function ToolSkills({
  toolId,
  found,
}: {
  readonly toolId: string;
  readonly found: ToolSkillsView;
}) {
  const mayCorrect = useMay('operate');
  const { data: skills = [] } = useQuery(skillsQuery);
  const [ids, setIds] = useState(() => found.skills.map(({ id }) => id));
  const { save, drop } = useCorrectSkills(toolId);
  const nameOf = (id: string): string => skills.find((skill) => skill.id === id)?.name ?? id;
  const confidence = (id: string): number | undefined =>
    [...found.skills, ...found.suggested_skills].find((skill) => skill.id === id)?.confidence;
  const isChanged = ids.join() !== found.skills.map(({ id }) => id).join();
  const suggested = found.suggested_skills.filter(({ id }) => !ids.includes(id));
  return (
    <div className="max-w-160 p-5">
      <p className="text-text-2 mb-3">
        {found.is_override
          ? texts.tool.byHand
          : found.classified_by === null
            ? texts.tool.unclassified
            : texts.tool.classifiedBy(found.classified_by)}
      </p>
      <ChosenSkills
        ids={ids}
        nameOf={nameOf}
        confidenceOf={confidence}
        {...(mayCorrect && { onChange: setIds })}
      />
      {suggested.length > 0 && (
        <ul className="mt-2 flex flex-wrap gap-2">
          {suggested.map(({ id, confidence: share }) => (
            <li key={id}>
              <Button
                small
                disabled={!mayCorrect || ids.length >= MAX_SKILLS}
                onClick={() => setIds([...ids, id])}
              >
                {nameOf(id)} <span className="text-text-3 font-normal">{percent(share)}</span>
              </Button>
            </li>
          ))}
        </ul>
      )}
      {mayCorrect ? (
        <>
          <AddSkill
            choices={skills.filter(({ id }) => !ids.includes(id))}
            isFull={ids.length >= MAX_SKILLS}
            onAdd={(id) => setIds([...ids, id])}
          />
          <div className="mt-4 flex gap-2">
            <Button
              kind="primary"
              disabled={!isChanged || ids.length === 0}
              busy={save.isPending}
              onClick={() => save.mutate(ids)}
            >
              {texts.tool.skillSave}
            </Button>
            {found.is_override && (
              <Button busy={drop.isPending} onClick={() => drop.mutate()}>
                {texts.tool.skillDrop}
              </Button>
            )}
          </div>
        </>
      ) : (
        <NoRight>{texts.tool.skillNoScope}</NoRight>
      )}
    </div>
  );
}

interface ChosenSkillsProps {
  readonly ids: readonly string[];
  readonly nameOf: (id: string) => string;
  readonly confidenceOf: (id: string) => number | undefined;
  /** Absent: the user may not change them. */
  readonly onChange?: (ids: string[]) => void;
}

function ChosenSkills({ ids, nameOf, confidenceOf, onChange }: ChosenSkillsProps) {
  return (
    <ul className="border-line divide-line divide-y rounded-3 border empty:hidden">
      {ids.map((id, at) => (
        <li key={id} className="flex min-h-10 items-center gap-3 px-3">
          <Link to="/skills" search={{ skill: id }} className="no-underline">
            {nameOf(id)}
          </Link>
          {at === 0 && <Badge tint="accent">{texts.tool.primary}</Badge>}
          <Confidence value={confidenceOf(id)} />
          {onChange && (
            <span className="flex">
              {at > 0 && (
                <Button
                  kind="ghost"
                  small
                  icon={Star}
                  aria-label={`${texts.tool.makePrimary}: ${nameOf(id)}`}
                  onClick={() => onChange([id, ...ids.filter((other) => other !== id)])}
                />
              )}
              <Button
                kind="ghost"
                small
                icon={X}
                aria-label={`${texts.common.remove} ${nameOf(id)}`}
                onClick={() => onChange(ids.filter((other) => other !== id))}
              />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

interface AddSkillProps {
  readonly choices: readonly SkillView[];
  readonly isFull: boolean;
  readonly onAdd: (id: string) => void;
}

function AddSkill({ choices, isFull, onAdd }: AddSkillProps) {
  return (
    <Field label={texts.tool.skillChoose} hint={texts.tool.skillMax} className="mt-4 max-w-80">
      <Select value="" disabled={isFull} onChange={(event) => onAdd(event.target.value)}>
        <option value="" />
        {choices.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </Select>
    </Field>
  );
}

function Confidence({ value }: { readonly value: number | undefined }) {
  if (value === undefined) return <span className="ml-auto" />;
  return (
    <span className="ml-auto flex items-center gap-2 text-small" title={texts.tool.confidence}>
      <span className="bg-idle-weak h-1.5 w-20 overflow-hidden rounded-1" aria-hidden>
        <span className="bg-c3 block h-full" style={{ width: percent(value).replace(' ', '') }} />
      </span>
      <span className="text-text-2 w-10 text-right">{percent(value)}</span>
    </span>
  );
}

function useCorrectSkills(toolId: string) {
  const client = useQueryClient();
  const id = Number(toolId);
  const refresh = async (): Promise<void> => {
    await client.invalidateQueries({ queryKey: ['skills'] });
    await client.invalidateQueries({ queryKey: ['tools'] });
  };
  const save = useMutation({
    mutationFn: (ids: readonly string[]) =>
      ask((api) => api.overrideToolSkills({ path: { id }, body: { skill_ids: [...ids] } })),
    onSuccess: () => toast.success(texts.tool.skillSaved),
    onSettled: refresh,
  });
  const drop = useMutation({
    mutationFn: () => ask((api) => api.dropToolSkillsOverride({ path: { id } })),
    onSuccess: () => toast.success(texts.tool.skillDropped),
    onSettled: refresh,
  });
  return { save, drop };
}
