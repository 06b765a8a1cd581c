import type { IssueTokenDto } from '@app/api-client';
import { type FormEvent, useState } from 'react';
import { texts } from '../../texts/index.js';
import { Field, Input, Select } from '../../ui/field.js';
import { periodsToChoose, secondsOf } from '../../ui/policy/periods.js';
import { type Level, ViewAndLevel } from '../../ui/policy/view-and-level.js';
import { Segmented } from '../../ui/segmented.js';

const { access: t } = texts;

const roles = ['viewer', 'caller', 'operator', 'admin'] as const;
const NAME = /^[\w.@-]{1,100}$/;

interface IssueFormProps {
  readonly id: string;
  readonly onSubmit: (token: IssueTokenDto) => void;
}

export function IssueForm({ id, onSubmit }: IssueFormProps) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<(typeof roles)[number]>('caller');
  const [reach, setReach] = useState<'granted' | 'view'>('granted');
  const [view, setView] = useState('default');
  const [level, setLevel] = useState<Level>('call');
  const [period, setPeriod] = useState('quarter');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!NAME.test(name)) return;
    const seconds = secondsOf(period);
    onSubmit({
      name,
      role,
      ...(reach === 'view' && { view, level }),
      ...(seconds !== undefined && { expires_in_seconds: seconds }),
    });
  };
  return (
    <form id={id} onSubmit={submit} className="grid gap-4">
      <Field
        label={t.name}
        hint={t.nameHint}
        error={name === '' || NAME.test(name) ? undefined : t.nameInvalid}
      >
        <Input mono required value={name} onChange={(event) => setName(event.target.value)} />
      </Field>
      <div>
        <p className="mb-1 text-small font-medium">{t.role}</p>
        <Segmented
          label={t.role}
          value={role}
          options={roles.map((value) => ({ value, label: t.roles[value] }))}
          onChange={setRole}
        />
        <p className="text-text-3 mt-1 text-label">{t.roleHints[role]}</p>
      </div>
      <div>
        <p className="mb-1 text-small font-medium">{t.reach}</p>
        <Segmented
          label={t.reach}
          value={reach}
          options={[
            { value: 'granted', label: t.reaches.granted },
            { value: 'view', label: t.reaches.view },
          ]}
          onChange={setReach}
        />
        <p className="text-text-3 mt-1 text-label">{t.reachHint}</p>
      </div>
      {reach === 'view' && <ViewAndLevel {...{ view, setView, level, setLevel }} />}
      <Field label={t.expiry}>
        <Select value={period} onChange={(event) => setPeriod(event.target.value)}>
          {periodsToChoose.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </Select>
      </Field>
    </form>
  );
}
