import { useQuery } from '@tanstack/react-query';
import type { ToolDetailView } from '@app/api-client';
import { viewsQuery } from '../../../api/queries.js';
import { useMay } from '../../../session/session.js';
import { texts } from '../../../texts/index.js';
import { Field, Select } from '../../../ui/field.js';
import { ErrorPane, NoRight, SkeletonRows } from '../../../ui/pane.js';
import { useAddressState } from '../../../ui/tabs.js';
import { overridesQuery } from '../tool-queries.js';
import { OverrideEditor } from './override-editor.js';

/** How the tool is offered instead of how its server defines it: in every view, or in one. */
export function OverrideTab({ tool }: { readonly tool: ToolDetailView }) {
  const maySet = useMay('admin');
  const [view, setView] = useAddressState('view', '');
  const { data: views = [] } = useQuery({ ...viewsQuery, enabled: maySet });
  const overrides = useQuery({ ...overridesQuery(tool.id), enabled: maySet });
  if (!maySet) return <NoRight>{texts.tool.overrideNoScope}</NoRight>;
  const error = overrides.error;
  if (error) {
    return (
      <ErrorPane
        title={texts.errors.couldNotBeRead(texts.tool.overrides)}
        error={error}
        onRetry={() => void overrides.refetch()}
      />
    );
  }
  if (!overrides.data) return <SkeletonRows />;
  const find = (slug: string) =>
    overrides.data.find((one) => one.view === (slug === '' ? null : slug));
  const choices = ['', ...views.map(({ slug }) => slug)];
  const override = find(view);
  return (
    <div>
      <div className="border-line flex flex-wrap items-end gap-4 border-b px-5 py-3">
        <Field label={texts.tool.overrideFor} className="w-60">
          <Select value={view} onChange={(event) => setView(event.target.value)}>
            {choices.map((slug) => (
              <option key={slug} value={slug}>
                {slug === '' ? texts.tool.everywhere : slug}
                {find(slug) ? ` · ${texts.tool.isSet}` : ''}
              </option>
            ))}
          </Select>
        </Field>
        <p className="text-text-2 max-w-160 min-w-0 flex-1 basis-60 text-small">
          {texts.tool.overrideLead}
        </p>
      </div>
      <OverrideEditor
        key={`${view} ${override?.updated_at ?? ''}`}
        tool={tool}
        view={view}
        override={override}
      />
    </div>
  );
}
