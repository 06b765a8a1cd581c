import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { toast } from 'sonner';
import type { ServerDetailView, UpdateServerDto } from '@app/api-client';
import { ask } from '../../api/service.js';
import { fieldErrors } from '../../servers/form/field-errors.js';
import { FormProblem } from '../../servers/form/form-problem.js';
import { draftOf, registrationOf, type ServerDraft } from '../../servers/form/server-draft.js';
import { ServerFields } from '../../servers/form/server-fields.js';
import { TrialButton, TrialOutcome, useServerTrial } from '../../servers/form/server-trial.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';

const t = texts.server.settings;

/** Only what differs: a connection that is sent again would connect the server again. */
function changesOf(before: ServerDraft, after: ServerDraft): UpdateServerDto {
  const { transport_type: _type, auto_connect: _auto, ...given } = registrationOf(after);
  const old: Readonly<Record<string, unknown>> = { ...registrationOf(before) };
  const differs = ([key, value]: [string, unknown]): boolean =>
    JSON.stringify(value) !== JSON.stringify(old[key]);
  return Object.fromEntries(Object.entries(given).filter(differs));
}

/** The settings of a registered server; masked secrets stay as they are unless they are typed again. */
export function SettingsTab({ detail }: { readonly detail: ServerDetailView }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [before] = useState(() => draftOf(detail));
  const [draft, setDraft] = useState(before);
  const changes = changesOf(before, draft);
  const isChanged = Object.keys(changes).length > 0;
  const saving = useMutation({
    mutationFn: (body: UpdateServerDto) =>
      ask((api) => api.updateServer({ path: { id: detail.id }, body })),
    meta: { showsError: true },
    onSuccess: async (saved) => {
      toast.success(t.saved(saved.name));
      await client.invalidateQueries({ queryKey: ['servers'] });
      if (saved.name === detail.name) return;
      await navigate({
        to: '/servers/$name',
        params: { name: saved.name },
        search: { tab: 'settings' },
        replace: true,
      });
    },
  });
  const trial = useServerTrial(detail.id);
  const errors = fieldErrors(saving.error ?? trial.error);
  const change = (part: Partial<ServerDraft>): void => {
    setDraft((before) => ({ ...before, ...part }));
    // What was found is about other settings now.
    trial.reset();
  };
  const test = (): void => {
    saving.reset();
    trial.mutate(draft);
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    trial.reset();
    saving.mutate(changes);
  };
  return (
    <form onSubmit={submit} className="max-w-160 p-5" noValidate>
      <ServerFields isNew={false} draft={draft} errors={errors} onChange={change} />
      <div className="mt-5">
        <FormProblem error={saving.error} errors={errors} />
        {!saving.isError && <TrialOutcome trial={trial} />}
        <div className="mt-2 flex flex-wrap items-center gap-2">
          <Button type="submit" kind="primary" busy={saving.isPending} disabled={!isChanged}>
            {t.save}
          </Button>
          <TrialButton trial={trial} onTest={test} />
          {isChanged && <Button onClick={() => setDraft(before)}>{t.discard}</Button>}
          <span className="text-text-3 text-small">{noteOf(changes)}</span>
        </div>
      </div>
    </form>
  );
}

function noteOf(changes: UpdateServerDto): string {
  if (changes.connection_config !== undefined) return t.willReconnect;
  if (changes.name !== undefined) return t.willRename;
  return Object.keys(changes).length === 0 ? t.unchanged : '';
}
