import type { ViewRuleDto } from '@app/api-client';
import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { serversQuery } from '../../api/queries.js';
import { texts } from '../../texts/index.js';
import { Field, Input, Select } from '../../ui/field.js';
import { Segmented } from '../../ui/segmented.js';
import { cleanRule } from './draft.js';
import { skillIdsQuery } from './view-queries.js';

const { views: t } = texts;

const kinds = ['tool', 'any', 'prompt', 'resource'] as const;
const annotations = ['read_only', 'destructive', 'idempotent', 'open_world'] as const;

interface RuleFormProps {
  readonly rule: ViewRuleDto;
  readonly onChange: (rule: ViewRuleDto) => void;
}

/** Every change is seen in the preview at once. */
export function RuleForm({ rule, onChange }: RuleFormProps) {
  const skillList = useId();
  const { data: servers = [] } = useQuery(serversQuery);
  const { data: skills = [] } = useQuery(skillIdsQuery);
  const change = (part: Partial<ViewRuleDto>): void => onChange(cleanRule({ ...rule, ...part }));
  const isOfTools = rule.kind !== 'prompt' && rule.kind !== 'resource';
  return (
    <div className="bg-inset border-line grid items-start gap-3 border-t px-5 py-3 tab:grid-cols-2">
      <div>
        <p className="mb-1 text-small font-medium">{t.effect}</p>
        <Segmented
          label={t.effect}
          value={rule.effect ?? 'include'}
          options={[
            { value: 'include', label: t.include },
            { value: 'exclude', label: t.exclude },
          ]}
          onChange={(effect) => change({ effect })}
        />
      </div>
      <Field label={t.kind}>
        <Select
          value={rule.kind ?? 'any'}
          onChange={({ target: { value } }) => {
            const kind = kinds.find((one) => one === value) ?? 'any';
            // Only tools have skills and annotations.
            const { skill: _skill, annotation: _annotation, ...rest } = rule;
            const isTools = kind === 'tool' || kind === 'any';
            onChange(cleanRule({ ...(isTools ? rule : rest), kind }));
          }}
        >
          {kinds.map((kind) => (
            <option key={kind} value={kind}>
              {t.kinds[kind]}
            </option>
          ))}
        </Select>
      </Field>
      <Field label={t.server}>
        <Select
          value={rule.server ?? ''}
          onChange={(event) => change({ server: event.target.value })}
        >
          <option value="">{t.anyServer}</option>
          {rule.server != null && !servers.some(({ name }) => name === rule.server) && (
            <option value={rule.server}>{rule.server}</option>
          )}
          {servers.map(({ id, name }) => (
            <option key={id} value={name}>
              {name}
            </option>
          ))}
        </Select>
      </Field>
      <Field label={t.pattern} hint={t.patternHint}>
        <Input
          mono
          placeholder="*"
          value={rule.name ?? ''}
          onChange={(event) => change({ name: event.target.value })}
        />
      </Field>
      {isOfTools && (
        <>
          <Field label={t.skill}>
            <Input
              mono
              list={skillList}
              value={rule.skill ?? ''}
              onChange={(event) => change({ skill: event.target.value })}
            />
          </Field>
          <datalist id={skillList}>
            {skills.map((id) => (
              <option key={id} value={id} />
            ))}
          </datalist>
          <Annotations
            value={rule.annotation ?? ''}
            onChange={(annotation) => onChange(withAnnotation(rule, annotation))}
          />
        </>
      )}
    </div>
  );
}

type Annotation = (typeof annotations)[number];

function withAnnotation(rule: ViewRuleDto, annotation: Annotation | undefined): ViewRuleDto {
  const { annotation: _before, ...rest } = rule;
  return cleanRule({ ...rest, ...(annotation && { annotation }) });
}

interface AnnotationsProps {
  readonly value: string;
  readonly onChange: (annotation: Annotation | undefined) => void;
}

function Annotations({ value, onChange }: AnnotationsProps) {
  return (
    <Field label={t.annotation}>
      <Select
        value={value}
        onChange={(event) => onChange(annotations.find((one) => one === event.target.value))}
      >
        <option value="">{t.anyAnnotation}</option>
        {annotations.map((one) => (
          <option key={one} value={one}>
            {t.annotations[one]}
          </option>
        ))}
      </Select>
    </Field>
  );
}
