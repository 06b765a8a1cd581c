import type { ApprovalView } from '@app/api-client';
import { Undo2 } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { texts } from '../../texts/index.js';
import { classNames } from '../../ui/class-names.js';
import { StateMark } from '../../ui/state-mark.js';
import { TimeAgo } from '../../ui/time.js';

interface ApprovalListProps {
  readonly waiting: readonly ApprovalView[];
  readonly kept: readonly ApprovalView[];
  readonly selectedId: string | undefined;
  readonly onSelect: (approval: ApprovalView) => void;
}

export function ApprovalList({ waiting, kept, selectedId, onSelect }: ApprovalListProps) {
  const sections = [
    { title: texts.approvals.waiting, rows: waiting, aside: texts.approvals.keys },
    { title: texts.approvals.kept, rows: kept, aside: '' },
  ].filter(({ rows }) => rows.length > 0);
  return sections.map(({ title, rows, aside }) => (
    <section key={title}>
      <h2 className="border-line bg-page sticky top-0 z-10 flex h-(--pane-head) items-center gap-2 border-b px-5">
        <span className="font-semibold">{title}</span>
        <span className="text-text-3 text-small">{rows.length}</span>
        <span className="text-text-3 ml-auto hidden text-small nav:inline">{aside}</span>
      </h2>
      <ul>
        {rows.map((approval) => (
          <ApprovalRow
            key={approval.id}
            approval={approval}
            isSelected={approval.id === selectedId}
            onSelect={() => onSelect(approval)}
          />
        ))}
      </ul>
    </section>
  ));
}

interface ApprovalRowProps {
  readonly approval: ApprovalView;
  readonly isSelected: boolean;
  readonly onSelect: () => void;
}

function ApprovalRow({ approval, isSelected, onSelect }: ApprovalRowProps) {
  const { name, server_name: server, findings, changed_at: at } = approval;
  const row = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isSelected) row.current?.scrollIntoView({ block: 'nearest' });
  }, [isSelected]);
  return (
    <li>
      <button
        ref={row}
        type="button"
        aria-current={isSelected || undefined}
        onClick={onSelect}
        className={classNames(
          'border-line grid w-full grid-cols-[20px_1fr_auto] items-center gap-x-1 border-b px-5 py-1.5 text-left',
          isSelected ? 'bg-accent-weak shadow-[inset_2px_0_0_var(--accent)]' : 'hover:bg-hover',
        )}
      >
        {approval.state === 'PENDING' ? (
          <StateMark state="withheld">
            <span className="sr-only">{texts.approvals.waiting}</span>
          </StateMark>
        ) : (
          <Undo2 size={14} aria-hidden className="text-text-3" />
        )}
        <span className="col-span-2 font-mono text-small [overflow-wrap:anywhere]">{name}</span>
        <span className="text-text-2 col-start-2 flex gap-2 text-label">
          <span className="truncate">{server}</span>
          <TimeAgo at={at} />
        </span>
        <span
          className={classNames(
            'text-label whitespace-nowrap',
            findings.length > 0 ? 'text-bad font-medium' : 'text-text-3',
          )}
        >
          {findings.length > 0
            ? texts.approvals.findings(findings.length)
            : texts.approvals.noFinding}
        </span>
      </button>
    </li>
  );
}
