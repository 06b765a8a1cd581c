import type { ViewView } from '@app/api-client';
import { useQuery } from '@tanstack/react-query';
import { CircleAlert } from 'lucide-react';
import { reasonOf } from '../../api/refused.js';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { Banner } from '../../ui/banner.js';
import { Button } from '../../ui/button.js';
import { NoRight } from '../../ui/pane.js';
import { Tabs } from '../../ui/tabs.js';
import { isBudget } from './draft.js';
import { LeaveGuard } from './leave-guard.js';
import { RawView } from './raw-view.js';
import { RulesTable } from './rules-table.js';
import type { ViewEdit } from './use-view-draft.js';
import { previewQuery } from './view-queries.js';
import { ViewTexts } from './view-texts.js';

const { views: t } = texts;

interface ViewEditorProps {
  readonly view: ViewView;
  readonly edit: ViewEdit;
}

export function ViewEditor({ view, edit }: ViewEditorProps) {
  const mayChange = useMay('admin');
  const tabs = [
    {
      id: 'rules',
      label: t.rules,
      count: edit.draft.rules.length,
      content: <RulesTable slug={view.slug} edit={edit} mayChange={mayChange} />,
    },
    { id: 'texts', label: t.texts, content: <ViewTexts edit={edit} mayChange={mayChange} /> },
    { id: 'raw', label: t.raw, content: <RawView edit={edit} mayChange={mayChange} /> },
  ];
  return (
    <section aria-label={view.slug}>
      <Tabs label={t.tabs} tabs={tabs} param="part" />
      {edit.problem != null && (
        <Banner kind="bad" className="mx-5 mb-2">
          {reasonOf(edit.problem)}
        </Banner>
      )}
      <LeaveGuard isChanged={edit.isChanged} />
      {mayChange ? <SaveBar view={view} edit={edit} /> : <NoRight>{t.needsAdmin}</NoRight>}
    </section>
  );
}

/** What the view offers with the changes and offered before, and the way to save or undo them. */
function SaveBar({ view, edit }: ViewEditorProps) {
  const { data: after } = useQuery(
    previewQuery({ view: view.slug, rules: edit.draft.rules, limit: 1 }),
  );
  const { data: before } = useQuery(previewQuery({ view: view.slug, rules: view.rules, limit: 1 }));
  const now = after ? after.offered + after.held : 0;
  const then = before ? before.offered + before.held : 0;
  const label =
    now < then ? t.saveWithdraws(then - now) : now > then ? t.saveAdds(now - then) : t.save;
  return (
    <div className="border-line bg-inset flex min-h-11 flex-wrap items-center gap-x-3 gap-y-2 border-y px-5 py-2">
      {after && (
        <p aria-live="polite">
          <span className="font-medium">{t.offersNow(after.offered)}</span>
          {after.held > 0 && t.heldNow(after.held)}
          {edit.isChanged && <span className="text-text-2">. {t.before(then)}</span>}
        </p>
      )}
      {edit.isChanged && (
        <div className="ml-auto flex flex-wrap items-center gap-2">
          <span className="text-warn inline-flex items-center gap-1.5">
            <CircleAlert size={14} aria-hidden /> {t.unsaved}
          </span>
          <Button onClick={edit.undo}>{t.undo}</Button>
          <Button
            kind="primary"
            busy={edit.isSaving}
            disabled={!isBudget(edit.draft.budget)}
            onClick={edit.save}
          >
            {label}
          </Button>
        </div>
      )}
    </div>
  );
}
