import { useQuery } from '@tanstack/react-query';
import type { ApprovalDetailView, FindingView } from '@app/api-client';
import { Check, OctagonAlert } from 'lucide-react';
import { texts } from '../../texts/index.js';
import { TimeAgo } from '../../ui/time.js';
import { serverEventsQuery } from './approval-queries.js';

const codes = Object.keys(texts.approvals.finding) as FindingView['code'][];

/** What is known around a change: which checks it passed, and what its server did before. */
export function ApprovalRail({ approval }: { readonly approval: ApprovalDetailView }) {
  const { data: events = [] } = useQuery(serverEventsQuery(approval.server_id));
  const count = (code: string): number =>
    approval.findings.filter((finding) => finding.code === code).length;
  const moments = [
    { at: approval.changed_at, text: texts.approvals.changed },
    ...events.map(({ event_type, timestamp }) => ({
      at: timestamp,
      text: texts.approvals.serverEvent(approval.server_name, event_type),
    })),
  ].toSorted((a, b) => b.at.localeCompare(a.at));
  return (
    <>
      <section>
        <h2 className="border-line flex h-(--pane-head) items-center border-b px-5 font-semibold">
          {texts.approvals.checks}
        </h2>
        <ul>
          {codes.map((code) => (
            <li
              key={code}
              className="border-line flex min-h-(--row) items-center gap-2 border-b px-5 text-small"
            >
              {count(code) > 0 ? (
                <OctagonAlert size={14} aria-hidden className="text-bad shrink-0" />
              ) : (
                <Check size={14} aria-hidden className="text-ok shrink-0" />
              )}
              <span className="grow">{texts.approvals.finding[code]}</span>
              {count(code) > 0 ? (
                <span className="text-bad font-medium">{count(code)}</span>
              ) : (
                <span className="text-text-3">{texts.approvals.none}</span>
              )}
            </li>
          ))}
        </ul>
      </section>
      <section>
        <h2 className="border-line flex h-(--pane-head) items-center border-b px-5 font-semibold">
          {texts.approvals.around}
        </h2>
        <ol className="border-line border-b px-5 py-3">
          {moments.map(({ at, text }, index) => (
            <li
              key={index}
              className="border-line-2 relative ml-1 border-l pb-3 pl-4 text-small last:border-transparent last:pb-0"
            >
              <span
                aria-hidden
                className="bg-page border-control-line absolute top-1 -left-1 size-2 rounded-full border"
              />
              <p className="[overflow-wrap:anywhere]">{text}</p>
              <p className="text-text-3 text-label">
                <TimeAgo at={at} />
              </p>
            </li>
          ))}
        </ol>
      </section>
    </>
  );
}
