import type { ApprovalDetailView } from '@app/api-client';
import { ShieldCheck, ShieldX } from 'lucide-react';
import { useState } from 'react';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { ConfirmDialog } from '../../ui/dialog.js';
import { Kbd } from '../../ui/kbd.js';

interface ApprovalActionsProps {
  readonly approval: ApprovalDetailView;
  readonly onApprove: () => void;
  readonly onKeep: () => void;
}

/** The safe choice is the primary one: to keep what has findings, to approve what has none. */
export function ApprovalActions({ approval, onApprove, onKeep }: ApprovalActionsProps) {
  const mayDecide = useMay('operate');
  const [isAsking, setAsking] = useState(false);
  const hasFindings = approval.findings.length > 0;
  return (
    <footer className="border-line bg-inset sticky bottom-0 z-10 mt-auto flex flex-wrap items-center gap-x-4 gap-y-2 border-t px-5 py-2.5">
      <div className="text-text-2 min-w-0 text-small">
        <p>{mayDecide ? texts.approvals.bound : texts.approvals.noScope}</p>
        <p className="font-mono text-label" title={approval.expected_hash}>
          {approval.expected_hash.slice(0, 12)}
        </p>
      </div>
      {mayDecide && (
        <div className="ml-auto flex flex-wrap gap-2">
          {approval.state === 'PENDING' && (
            <Button kind={hasFindings ? 'primary' : 'plain'} icon={ShieldX} onClick={onKeep}>
              {texts.approvals.keep} <Kbd>X</Kbd>
            </Button>
          )}
          {hasFindings ? (
            <Button kind="danger" icon={ShieldCheck} onClick={() => setAsking(true)}>
              {texts.approvals.approveDespite}
            </Button>
          ) : (
            <Button kind="primary" icon={ShieldCheck} onClick={onApprove}>
              {texts.approvals.approve}
            </Button>
          )}
        </div>
      )}
      <ConfirmDialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={texts.approvals.confirmTitle(approval.name)}
        confirmLabel={texts.approvals.approve}
        onConfirm={() => {
          setAsking(false);
          onApprove();
        }}
      >
        <p>{texts.approvals.confirmEffect}</p>
        <ul className="mt-2 list-disc pl-5">
          {approval.findings.map(({ code, where, text }, at) => (
            <li key={at}>
              {texts.approvals.finding[code]}: {text} <span className="font-mono">({where})</span>
            </li>
          ))}
        </ul>
      </ConfirmDialog>
    </footer>
  );
}
