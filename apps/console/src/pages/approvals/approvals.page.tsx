import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ApprovalView } from '@app/api-client';
import { ShieldCheck } from 'lucide-react';
import { approvalsQuery } from '../../api/queries.js';
import { texts } from '../../texts/index.js';
import { classNames } from '../../ui/class-names.js';
import { useListKeys } from '../../ui/list-keys.js';
import { useMediaQuery } from '../../ui/media-query.js';
import { PageHeader } from '../../ui/page-header.js';
import { Empty, ErrorPane, SkeletonRows } from '../../ui/pane.js';
import { useAddressState } from '../../ui/tabs.js';
import { ApprovalDetail } from './approval-detail.js';
import { ApprovalList } from './approval-list.js';
import { approvalQuery, useDecide } from './approval-queries.js';
import { ApprovalRail } from './approval-rail.js';

export function ApprovalsPage() {
  const { data, error, refetch } = useQuery(approvalsQuery);
  return (
    <>
      <PageHeader title={texts.approvals.title} />
      {error && !data && (
        <ErrorPane
          title={texts.errors.couldNotBeRead(texts.approvals.name)}
          error={error}
          onRetry={() => void refetch()}
        />
      )}
      {!data && !error && <SkeletonRows />}
      {data?.approvals.length === 0 && (
        <Empty
          icon={ShieldCheck}
          title={texts.approvals.emptyTitle}
          action={<Link to="/servers">{texts.approvals.toServers}</Link>}
        >
          {texts.approvals.empty}
        </Empty>
      )}
      {data && data.approvals.length > 0 && <Reviews approvals={data.approvals} />}
    </>
  );
}

/** The list beside what is selected; below 900 px one of the two. */
function Reviews({ approvals }: { readonly approvals: readonly ApprovalView[] }) {
  const [id, setId] = useAddressState('id', '');
  const isWide = useMediaQuery('(min-width: 900px)');
  const decide = useDecide();
  const waiting = approvals.filter(({ state }) => state === 'PENDING');
  const kept = approvals.filter(({ state }) => state === 'REJECTED');
  const rows = [...waiting, ...kept];
  const selectedId = id === '' && isWide ? (rows[0]?.id ?? '') : id;
  const at = rows.findIndex((row) => row.id === selectedId);
  const select = (to: ApprovalView | undefined): void => setId(to?.id ?? '');
  const decideOn = (approval: ApprovalView | undefined, verdict: 'approve' | 'reject'): void => {
    if (!approval || (verdict === 'reject' && approval.state !== 'PENDING')) return;
    const next = waiting.find((one, index) => index > at && one.id !== approval.id) ?? waiting[0];
    if (isWide || next?.id === approval.id) select(next?.id === approval.id ? undefined : next);
    else select(undefined);
    decide.mutate({ approval, verdict });
  };
  useListKeys({
    count: rows.length,
    at,
    onMove: (to) => select(rows[to]),
    onOpen: () => undefined,
    onSelect: () => decideOn(rows[at], 'reject'),
  });
  return (
    <div className="h-full nav:flex">
      <div
        className={classNames(
          'border-line h-full overflow-auto nav:w-64 nav:shrink-0 nav:border-r',
          selectedId !== '' && 'hidden nav:block',
        )}
      >
        <ApprovalList
          waiting={waiting}
          kept={kept}
          selectedId={selectedId}
          onSelect={(approval) => select(approval)}
        />
      </div>
      {selectedId !== '' && (
        <Selected
          key={selectedId}
          id={selectedId}
          approvals={rows}
          onSelect={select}
          onDecide={decideOn}
        />
      )}
    </div>
  );
}

interface SelectedProps {
  readonly id: string;
  readonly approvals: readonly ApprovalView[];
  readonly onSelect: (approval: ApprovalView | undefined) => void;
  readonly onDecide: (approval: ApprovalView, verdict: 'approve' | 'reject') => void;
}

function Selected({ id, approvals, onSelect, onDecide }: SelectedProps) {
  const { data, error, refetch } = useQuery(approvalQuery(id));
  if (error) {
    return <ErrorPane title={texts.approvals.gone} error={error} onRetry={() => void refetch()} />;
  }
  if (!data) return <SkeletonRows />;
  return (
    <>
      <div className="h-full min-w-0 grow overflow-auto">
        <ApprovalDetail
          approval={data}
          others={approvals.filter(
            (other) =>
              other.server_id === data.server_id && other.id !== id && other.state === 'PENDING',
          )}
          onSelect={onSelect}
          onBack={() => onSelect(undefined)}
          onApprove={() => onDecide(data, 'approve')}
          onKeep={() => onDecide(data, 'reject')}
        />
      </div>
      <aside className="border-line hidden w-72 shrink-0 overflow-auto border-l rail:block">
        <ApprovalRail approval={data} />
      </aside>
    </>
  );
}
