import type { ApprovalDetailView, ApprovalView } from '@app/api-client';
import { ArrowLeft } from 'lucide-react';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { StateMark } from '../../ui/state-mark.js';
import { TimeAgo } from '../../ui/time.js';
import { ToolName } from '../../ui/tool-name.js';
import { ApprovalActions } from './approval-actions.js';
import { ApprovalChanges } from './approval-changes.js';
import { ApprovalFindings } from './approval-findings.js';
import { SameServer } from './same-server.js';

interface ApprovalDetailProps {
  readonly approval: ApprovalDetailView;
  /** What else waits at its server. */
  readonly others: readonly ApprovalView[];
  readonly onSelect: (approval: ApprovalView) => void;
  readonly onBack: () => void;
  readonly onApprove: () => void;
  readonly onKeep: () => void;
}

export function ApprovalDetail(props: ApprovalDetailProps) {
  const { approval, others, onSelect, onBack, onApprove, onKeep } = props;
  return (
    <article className="flex min-h-full flex-col">
      <header className="border-line border-b px-5 py-3">
        <Button kind="ghost" icon={ArrowLeft} className="-ml-2.5 nav:hidden" onClick={onBack}>
          {texts.approvals.back}
        </Button>
        <div className="flex flex-wrap items-center gap-x-3">
          <h2 className="text-title">
            <ToolName name={`${approval.server_name}.${approval.name}`} />
          </h2>
          {approval.state === 'PENDING' ? (
            <StateMark state="withheld">
              {texts.approvals.withheldSince} <TimeAgo at={approval.changed_at} />
            </StateMark>
          ) : (
            <StateMark state="withheld">
              {texts.approvals.rejectedBy(approval.decided_by ?? '')}
            </StateMark>
          )}
        </div>
        <p className="text-text-2">
          {approval.is_new && `${texts.approvals.isNew} `}
          {approval.renamed_from !== null &&
            `${texts.approvals.renamedFrom(approval.renamed_from)} `}
          {texts.approvals.effect(approval.kind)}
        </p>
      </header>
      <ApprovalFindings findings={approval.findings} />
      <ApprovalChanges approval={approval} />
      <SameServer approval={approval} others={others} onSelect={onSelect} />
      <ApprovalActions approval={approval} onApprove={onApprove} onKeep={onKeep} />
    </article>
  );
}
