import type { ApprovalView, SkillView } from '@app/api-client';
import { Shapes, ShieldCheck } from 'lucide-react';
import { useState } from 'react';
import { ask } from '../../api/service.js';
import type { ToolRow } from '../../model/tool-row.js';
import { texts } from '../../texts/index.js';
import { BulkBar } from '../../ui/bulk-bar.js';
import { Button } from '../../ui/button.js';
import { ConfirmDialog } from '../../ui/dialog.js';
import { SetSkillsDialog } from './set-skills-dialog.js';
import { useBulk } from './use-bulk.js';

const t = texts.tools;

interface ToolsBulkProps {
  readonly rows: readonly ToolRow[];
  readonly skills: readonly SkillView[];
  readonly onClear: () => void;
}

/** Actions on the selected tools. */
export function ToolsBulk({ rows, skills, onClear }: ToolsBulkProps) {
  const [asked, open] = useState<'approve' | 'skills'>();
  const withheld = rows.flatMap(({ approval }) => (approval ? [approval] : []));
  const offered = rows.filter(({ approval }) => approval === undefined);
  const close = (): void => open(undefined);
  const finish = (): void => {
    close();
    onClear();
  };
  return (
    <>
      <BulkBar count={rows.length} onClear={onClear}>
        {offered.length > 0 && (
          <Button kind="ghost" icon={Shapes} onClick={() => open('skills')}>
            {t.setSkills}
          </Button>
        )}
        {withheld.length > 0 && (
          <Button kind="ghost" icon={ShieldCheck} onClick={() => open('approve')}>
            {t.approve(withheld.length)}
          </Button>
        )}
      </BulkBar>
      {asked === 'skills' && (
        <SetSkillsDialog
          tools={offered}
          left={withheld.length}
          skills={skills}
          onClose={close}
          onDone={finish}
        />
      )}
      {asked === 'approve' && (
        <ApproveDialog
          approvals={withheld}
          others={offered.length}
          onClose={close}
          onDone={finish}
        />
      )}
    </>
  );
}

interface ApproveDialogProps {
  readonly approvals: readonly ApprovalView[];
  readonly others: number;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function ApproveDialog({ approvals, others, onClose, onDone }: ApproveDialogProps) {
  const { run, done } = useBulk(({ id, expected_hash }: ApprovalView) =>
    ask((api) => api.approveDefinition({ path: { id }, body: { expected_hash } })),
  );
  const alarming = approvals.filter(({ findings }) => findings.length > 0).length;
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={t.approveTitle(approvals.length)}
      confirmLabel={t.approveNow}
      busy={done !== undefined}
      onConfirm={() => void run(approvals).then(onDone)}
    >
      <p>{t.approveEffect}</p>
      {others > 0 && <p>{t.approveOthers(others)}</p>}
      {alarming > 0 && <p className="text-bad mt-2 font-medium">{t.approveFindings(alarming)}</p>}
      {done !== undefined && <p role="status">{t.working(done, approvals.length)}</p>}
    </ConfirmDialog>
  );
}
