import type { CreateViewDto, ViewRuleDto } from '@app/api-client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useId, useState } from 'react';
import { reasonOf } from '../../api/refused.js';
import { ask } from '../../api/service.js';
import { texts } from '../../texts/index.js';
import { Banner } from '../../ui/banner.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Field, Input } from '../../ui/field.js';
import { Segmented } from '../../ui/segmented.js';

const { views: t } = texts;
const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/;

const beginnings = {
  readOnly: { label: t.startReadOnly, rules: [{ kind: 'tool', annotation: 'read_only' }] },
  nothing: { label: t.startNothing, rules: [] },
  everything: { label: t.startEverything, rules: [{}] },
} satisfies Record<string, { label: string; rules: ViewRuleDto[] }>;
type Beginning = keyof typeof beginnings;
const choices: readonly { value: Beginning; label: string }[] = [
  { value: 'readOnly', label: beginnings.readOnly.label },
  { value: 'nothing', label: beginnings.nothing.label },
  { value: 'everything', label: beginnings.everything.label },
];

interface CreateViewProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** Copies this one instead of asking what to begin with. */
  readonly from?: string;
}

export function CreateView({ isOpen, onClose, from }: CreateViewProps) {
  const form = useId();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [slug, setSlug] = useState('');
  const [title, setTitle] = useState('');
  const [beginning, setBeginning] = useState<Beginning>('readOnly');
  const isValid = SLUG.test(slug);
  const create = useMutation({
    mutationFn: (body: CreateViewDto) =>
      ask((api) =>
        from === undefined
          ? api.createView({ body })
          : api.cloneView({ path: { slug: from }, body: { slug: body.slug } }),
      ),
    meta: { showsError: true },
    onSuccess: async (view) => {
      await client.invalidateQueries({ queryKey: ['views'] });
      onClose();
      void navigate({ to: '/views/$slug', params: { slug: view.slug } });
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isValid) return;
    const rules: ViewRuleDto[] = beginnings[beginning].rules;
    create.mutate({ slug, rules, ...(title.trim() !== '' && { title: title.trim() }) });
  };
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={from === undefined ? t.createTitle : t.cloneTitle(from)}
      footer={
        <>
          <Button onClick={onClose}>{texts.common.cancel}</Button>
          <Button
            type="submit"
            form={form}
            kind="primary"
            busy={create.isPending}
            disabled={!isValid}
          >
            {from === undefined ? t.createDo : t.cloneDo}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} className="grid gap-3">
        <p className="text-text-2">{from === undefined ? t.lead : t.cloneHint}</p>
        {create.isError && <Banner kind="bad">{reasonOf(create.error)}</Banner>}
        <Field
          label={t.slug}
          hint={t.slugHint}
          error={slug === '' || isValid ? undefined : t.slugInvalid}
        >
          <Input mono autoFocus value={slug} onChange={(event) => setSlug(event.target.value)} />
        </Field>
        {from === undefined && (
          <>
            <Field label={t.viewTitle}>
              <Input value={title} onChange={(event) => setTitle(event.target.value)} />
            </Field>
            <div>
              <p className="mb-1 text-small font-medium">{t.startWith}</p>
              <Segmented
                label={t.startWith}
                value={beginning}
                options={choices}
                onChange={setBeginning}
              />
            </div>
          </>
        )}
      </form>
    </Dialog>
  );
}
