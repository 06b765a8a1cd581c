import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { toast } from 'sonner';
import { ask } from '../../api/service.js';
import { fieldErrors } from '../../servers/form/field-errors.js';
import { registrationOf, type ServerDraft } from '../../servers/form/server-draft.js';
import { ServerFields } from '../../servers/form/server-fields.js';
import { FormProblem } from '../../servers/form/form-problem.js';
import { TrialButton, TrialOutcome, useServerTrial } from '../../servers/form/server-trial.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';

interface AddByFormProps {
  readonly draft: ServerDraft;
  readonly onDraft: (draft: ServerDraft) => void;
  readonly onClose: () => void;
}

/** One server, field by field. */
export function AddByForm({ draft, onDraft, onClose }: AddByFormProps) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const saving = useMutation({
    mutationFn: (given: ServerDraft) =>
      ask((api) => api.registerServer({ body: registrationOf(given) })),
    meta: { showsError: true },
    onSuccess: async ({ name }) => {
      toast.success(texts.servers.added(name));
      await client.invalidateQueries({ queryKey: ['servers'] });
      await navigate({ to: '/servers/$name', params: { name } });
    },
  });
  const trial = useServerTrial();
  // The newest of the two says what is wrong with the fields.
  const errors = fieldErrors(saving.error ?? trial.error);
  const change = (part: Partial<ServerDraft>): void => {
    onDraft({ ...draft, ...part });
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
    saving.mutate(draft);
  };
  return (
    <form
      onSubmit={submit}
      className="flex min-h-[calc(100dvh-var(--topbar)-var(--s10))] flex-col"
      noValidate
    >
      <div className="grow p-5">
        <ServerFields isNew draft={draft} errors={errors} onChange={change} />
      </div>
      <div className="border-line bg-inset sticky bottom-0 border-t px-5 py-3">
        <FormProblem error={saving.error} errors={errors} />
        {!saving.isError && <TrialOutcome trial={trial} />}
        <div className="mt-2 flex justify-end gap-2">
          <TrialButton trial={trial} onTest={test} />
          <span className="grow" />
          <Button onClick={onClose}>{texts.common.cancel}</Button>
          <Button type="submit" kind="primary" busy={saving.isPending}>
            {texts.servers.addOne}
          </Button>
        </div>
      </div>
    </form>
  );
}
