import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { toast } from 'sonner';
import type { ServerSettingsDto, ServerSettingsView, ServerView } from '@app/api-client';
import { ask } from '../../api/service.js';
import { fieldErrors } from '../../servers/form/field-errors.js';
import { FormProblem } from '../../servers/form/form-problem.js';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { Detail, Details } from '../../ui/details.js';
import { Checkbox, Field, Input, Select, TextArea } from '../../ui/field.js';
import { ErrorPane, NoRight, SkeletonRows } from '../../ui/pane.js';
import { querySettingsQuery, serverToolsQuery } from './server-queries.js';

const t = texts.server.query;

/** How the server takes part in aggregated queries. */
export function QueryTab({ server }: { readonly server: ServerView }) {
  const { data, error, isError, refetch } = useQuery(querySettingsQuery(server.name));
  const mayDefine = useMay('admin');
  if (isError) {
    return <ErrorPane title={t.notRead} error={error} onRetry={() => void refetch()} />;
  }
  if (data === undefined) return <SkeletonRows />;
  if (mayDefine) {
    return <QueryForm key={JSON.stringify(data)} server={server} settings={data} />;
  }
  return (
    <>
      <NoRight>{texts.common.noRight('admin')}</NoRight>
      <Details>
        <Detail label={t.enabled}>{data.enabled ? t.yes : t.no}</Detail>
        <Detail label={t.tool}>{data.tool ?? t.anyTool}</Detail>
        <Detail label={t.weight}>{data.weight}</Detail>
      </Details>
    </>
  );
}

interface QueryFormProps {
  readonly server: ServerView;
  readonly settings: ServerSettingsView;
}

function useSaving(name: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (body: ServerSettingsDto | null): Promise<void> => {
      if (body === null) await ask((api) => api.resetQuerySettings({ path: { name } }));
      else await ask((api) => api.replaceQuerySettings({ path: { name }, body }));
    },
    meta: { showsError: true },
    onSuccess: async () => {
      toast.success(t.saved);
      await client.invalidateQueries({ queryKey: querySettingsQuery(name).queryKey });
    },
  });
}

function QueryForm({ server, settings }: QueryFormProps) {
  const saving = useSaving(server.name);
  const [draft, setDraft] = useState(settings);
  const [text, setText] = useState(() => JSON.stringify(settings.arguments, null, 2));
  const fixed = parsedObject(text);
  const errors = fieldErrors(saving.error);
  const set = (part: Partial<ServerSettingsView>): void => setDraft({ ...draft, ...part });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (fixed === undefined) return;
    const { enabled, tool, argument, weight } = draft;
    saving.mutate({
      enabled,
      tool,
      argument: argument === '' ? null : argument,
      arguments: fixed,
      weight,
    });
  };
  return (
    <form onSubmit={submit} className="grid max-w-160 gap-4 p-5" noValidate>
      <label className="flex items-center gap-2">
        <Checkbox
          checked={draft.enabled}
          onChange={(event) => set({ enabled: event.target.checked })}
        />
        {t.enabledHint}
      </label>
      <ToolFields server={server} draft={draft} onChange={set} error={errors.at('tool')} />
      <Field label={t.fixed} error={fixed === undefined ? t.notAnObject : errors.at('arguments')}>
        <TextArea mono rows={4} value={text} onChange={(event) => setText(event.target.value)} />
      </Field>
      <Field label={t.weight} hint={t.weightHint} error={errors.at('weight')}>
        <Input
          type="number"
          step="0.1"
          min="0"
          value={draft.weight}
          className="!w-28"
          onChange={(event) => set({ weight: event.target.valueAsNumber })}
        />
      </Field>
      <div>
        <FormProblem error={saving.error} errors={errors} />
        <div className="flex gap-2">
          <Button type="submit" kind="primary" busy={saving.isPending} disabled={!fixed}>
            {texts.server.settings.save}
          </Button>
          {settings.configured && <Button onClick={() => saving.mutate(null)}>{t.reset}</Button>}
        </div>
      </div>
    </form>
  );
}

interface ToolFieldsProps {
  readonly server: ServerView;
  readonly draft: ServerSettingsView;
  readonly error: string | undefined;
  readonly onChange: (part: Partial<ServerSettingsView>) => void;
}

function ToolFields({ server, draft, error, onChange }: ToolFieldsProps) {
  const { data } = useQuery(serverToolsQuery(server.id));
  const names = new Set((data?.tools ?? []).map(({ original_name: name }) => name));
  if (draft.tool !== null) names.add(draft.tool);
  return (
    <>
      <Field label={t.tool} error={error}>
        <Select
          value={draft.tool ?? ''}
          onChange={({ target: { value } }) =>
            onChange(value === '' ? { tool: null, argument: null } : { tool: value })
          }
        >
          <option value="">{t.anyTool}</option>
          {[...names].map((name) => (
            <option key={name}>{name}</option>
          ))}
        </Select>
      </Field>
      {draft.tool !== null && (
        <Field label={t.argument} hint={t.argumentHint}>
          <Input
            mono
            value={draft.argument ?? ''}
            onChange={(event) => onChange({ argument: event.target.value })}
          />
        </Field>
      )}
    </>
  );
}

function parsedObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text.trim() === '' ? '{}' : text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
