import { useQuery } from '@tanstack/react-query';
import type { ApprovalView } from '@app/api-client';
import { useState } from 'react';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { ConfirmDialog } from '../../ui/dialog.js';
import { useApproveServer, withheldQuery } from './approval-queries.js';

interface SameServerProps {
  readonly approval: ApprovalView;
  readonly others: readonly ApprovalView[];
  readonly onSelect: (approval: ApprovalView) => void;
}

const SHOWN = 5;

/** What came with the same update, and approving all of it at once. */
export function SameServer({ approval, others, onSelect }: SameServerProps) {
  const mayDecide = useMay('operate');
  const [isAsking, setAsking] = useState(false);
  const { server_id: serverId, server_name: serverName } = approval;
  const { data: withheld } = useQuery({ ...withheldQuery(serverId), enabled: mayDecide });
  const approveAll = useApproveServer();
  if (others.length === 0) return null;
  const count = withheld ? withheld.tools + withheld.prompts + withheld.instructions : 0;
  const expectedHash = withheld?.expected_hash ?? null;
  const alarming = [approval, ...others].filter(({ findings }) => findings.length > 0).length;
  return (
    <section>
      <div className="border-line bg-inset flex min-h-10 flex-wrap items-center gap-2 border-b px-5 py-1.5">
        <h3 className="font-semibold">{texts.approvals.others(serverName)}</h3>
        <span className="text-text-3 text-small">
          {texts.approvals.othersAside(
            others.length,
            others.filter(({ findings }) => findings.length > 0).length,
          )}
        </span>
        {mayDecide && count > 1 && expectedHash !== null && (
          <Button small className="ml-auto" onClick={() => setAsking(true)}>
            {texts.approvals.approveAll(count)}
          </Button>
        )}
      </div>
      {others.slice(0, SHOWN).map((other, at) => (
        <div
          key={other.id}
          className="border-line flex min-h-10 items-center gap-3 border-b px-5 py-1"
        >
          <span className="font-mono text-small [overflow-wrap:anywhere]">{other.name}</span>
          <span className="text-text-3 min-w-0 truncate text-small">{other.fields.join(', ')}</span>
          <Button small className="ml-auto" onClick={() => onSelect(other)}>
            {at === 0 ? texts.approvals.reviewNext : texts.approvals.review}
          </Button>
        </div>
      ))}
      {expectedHash !== null && (
        <ConfirmDialog
          isOpen={isAsking}
          onClose={() => setAsking(false)}
          title={texts.approvals.approveAllTitle(count, serverName)}
          confirmLabel={texts.approvals.approve}
          busy={approveAll.isPending}
          onConfirm={() =>
            approveAll.mutate(
              { serverId, serverName, expectedHash },
              { onSettled: () => setAsking(false) },
            )
          }
        >
          <p>{texts.approvals.approveAllEffect}</p>
          {alarming > 0 && (
            <p className="text-bad mt-2 font-medium">
              {texts.approvals.approveAllFindings(alarming)}
            </p>
          )}
        </ConfirmDialog>
      )}
    </section>
  );
}
