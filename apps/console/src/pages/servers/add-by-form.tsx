import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { toast } from 'sonner';
import { ask } from '../../api/service.js';
import { fieldErrors } from '../../servers/form/field-errors.js';
import { emptyDraft, registrationOf, type ServerDraft } from '../../servers/form/server-draft.js';
import { ServerFields } from '../../servers/form/server-fields.js';
import { FormProblem } from '../../servers/form/form-problem.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';

/** One server, field by field. */
export function AddByForm({ onClose }: { readonly onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [draft, setDraft] = useState(emptyDraft);
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
  const errors = fieldErrors(saving.error);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    saving.mutate(draft);
  };
  return (
    <form onSubmit={submit} className="flex min-h-full flex-col" noValidate>
      <div className="grow p-5">
        <ServerFields
          isNew
          draft={draft}
          errors={errors}
          onChange={(part) => setDraft((before) => ({ ...before, ...part }))}
        />
      </div>
      <div className="border-line bg-inset sticky bottom-0 border-t px-5 py-3">
        <FormProblem error={saving.error} errors={errors} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{texts.common.cancel}</Button>
          <Button type="submit" kind="primary" busy={saving.isPending}>
            {texts.servers.addOne}
          </Button>
        </div>
      </div>
    </form>
  );
}
