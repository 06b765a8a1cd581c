import type { GiveGrantDto } from '@app/api-client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { toast } from 'sonner';
import { tokensQuery } from '../../api/queries.js';
import { reasonOf } from '../../api/refused.js';
import { ask } from '../../api/service.js';
import { texts } from '../../texts/index.js';
import { Banner } from '../banner.js';
import { Button } from '../button.js';
import { Drawer } from '../dialog.js';
import { Field, Input, Select } from '../field.js';
import { periodsToChoose, secondsOf } from './periods.js';
import { type Level, ViewAndLevel } from './view-and-level.js';

const { policy: t } = texts;

const kinds = ['token', 'user', 'group', 'client', 'anyone'] as const;

interface GrantDrawerProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** Chosen already. */
  readonly view?: string;
}

export function GrantDrawer({ isOpen, onClose, view }: GrantDrawerProps) {
  const form = useId();
  const client = useQueryClient();
  const give = useMutation({
    mutationFn: (body: GiveGrantDto) => ask((api) => api.giveGrant({ body })),
    meta: { showsError: true },
    onSuccess: (grant) => {
      toast.success(t.given(grant.subject ?? t.subjectKinds.anyone, grant.view));
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['grants'] }),
  });
  return (
    <Drawer
      isOpen={isOpen}
      onClose={onClose}
      title={t.giveTitle}
      footer={
        <>
          <Button onClick={onClose}>{texts.common.cancel}</Button>
          <Button type="submit" form={form} kind="primary" busy={give.isPending}>
            {t.giveDo}
          </Button>
        </>
      }
    >
      <div className="grid gap-3 p-4">
        {give.isError && <Banner kind="bad">{reasonOf(give.error)}</Banner>}
        <GrantForm id={form} view={view} onSubmit={(grant) => give.mutate(grant)} />
      </div>
    </Drawer>
  );
}

interface GrantFormProps {
  readonly id: string;
  readonly view: string | undefined;
  readonly onSubmit: (grant: GiveGrantDto) => void;
}

function GrantForm({ id, view: chosen, onSubmit }: GrantFormProps) {
  const names = useId();
  const { data: tokens = [] } = useQuery(tokensQuery);
  const [kind, setKind] = useState<(typeof kinds)[number]>('token');
  const [subject, setSubject] = useState('');
  const [view, setView] = useState(chosen ?? 'default');
  const [level, setLevel] = useState<Level>('call');
  const [period, setPeriod] = useState('none');
  const [limit, setLimit] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const seconds = secondsOf(period);
    onSubmit({
      subject_kind: kind,
      ...(kind !== 'anyone' && { subject: subject.trim() }),
      view,
      level,
      ...(seconds !== undefined && { expires_in_seconds: seconds }),
      ...(limit !== '' && { calls_per_minute: Number(limit) }),
    });
  };
  return (
    <form id={id} onSubmit={submit} className="grid gap-3">
      <Field label={t.kind}>
        <Select
          value={kind}
          onChange={(event) => setKind(kinds.find((one) => one === event.target.value) ?? 'token')}
        >
          {kinds.map((one) => (
            <option key={one} value={one}>
              {t.subjectKinds[one]}
            </option>
          ))}
        </Select>
      </Field>
      {kind !== 'anyone' && (
        <Field label={t.subject} hint={t.subjectHints[kind]}>
          <Input
            mono
            required
            list={kind === 'token' ? names : undefined}
            value={subject}
            onChange={(event) => setSubject(event.target.value)}
          />
        </Field>
      )}
      <datalist id={names}>
        {tokens.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <ViewAndLevel view={view} setView={setView} level={level} setLevel={setLevel} />
      <Field label={t.expires}>
        <Select value={period} onChange={(event) => setPeriod(event.target.value)}>
          {periodsToChoose.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </Select>
      </Field>
      <Field label={t.callsPerMinute} hint={t.callsPerMinuteHint}>
        <Input
          type="number"
          min={1}
          value={limit}
          onChange={(event) => setLimit(event.target.value)}
        />
      </Field>
    </form>
  );
}
