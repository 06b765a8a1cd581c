import type { OverrideView, ToolDetailView } from '@app/api-client';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { reasonOf } from '../../../api/refused.js';
import { texts } from '../../../texts/index.js';
import { Banner } from '../../../ui/banner.js';
import { Button } from '../../../ui/button.js';
import { ConfirmDialog } from '../../../ui/dialog.js';
import { TimeAgo } from '../../../ui/time.js';
import { badPresets, draftOf, listedShape, offeredShape, toDto } from './override-draft.js';
import { OverrideFields } from './override-fields.js';
import { OverridePreview } from './override-preview.js';
import { useChangeOverride } from './use-override.js';

interface OverrideEditorProps {
  readonly tool: ToolDetailView;
  /** Empty: every view. */
  readonly view: string;
  readonly override: OverrideView | undefined;
}

export function OverrideEditor({ tool, view, override }: OverrideEditorProps) {
  const [draft, setDraft] = useState(() => draftOf(override));
  const [isAsking, setAsking] = useState(false);
  const { save, remove } = useChangeOverride(tool, view);
  const listed = listedShape(tool);
  const isChanged = JSON.stringify(draft) !== JSON.stringify(draftOf(override));
  const where = view === '' ? texts.tool.inEveryView : texts.tool.inTheView(view);
  const error: unknown = save.error ?? remove.error;
  return (
    <div className="grid nav:grid-cols-2">
      <form
        className="border-line min-w-0 nav:border-r"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate(toDto(draft, override));
        }}
      >
        <div className="flex flex-col gap-4 p-5">
          {override?.has_drifted === true && <Banner kind="warn">{texts.tool.drifted}</Banner>}
          {error !== null && <Banner kind="bad">{reasonOf(error)}</Banner>}
          <OverrideFields draft={draft} listed={listed} onChange={setDraft} />
        </div>
        <div className="border-line bg-inset sticky bottom-0 flex flex-wrap items-center gap-2 border-y px-5 py-2.5">
          <span className="text-text-2 mr-auto text-small">
            {isChanged
              ? texts.tool.changedHere
              : override && (
                  <>
                    {texts.tool.setBy(override.updated_by)}, <TimeAgo at={override.updated_at} />
                  </>
                )}
          </span>
          {override && (
            <Button kind="danger" icon={Trash2} onClick={() => setAsking(true)}>
              {texts.tool.removeOverride}
            </Button>
          )}
          <Button
            kind="primary"
            type="submit"
            busy={save.isPending}
            disabled={!(isChanged || override?.has_drifted) || badPresets(draft).length > 0}
          >
            {texts.tool.save}
          </Button>
        </div>
      </form>
      <OverridePreview before={listed} after={offeredShape(listed, draft)} />
      <ConfirmDialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={texts.tool.removeTitle(tool.name)}
        confirmLabel={texts.common.remove}
        busy={remove.isPending}
        onConfirm={() => remove.mutate(undefined, { onSettled: () => setAsking(false) })}
      >
        {texts.tool.removeEffect(where)}
      </ConfirmDialog>
    </div>
  );
}
