import type { FindingView } from '@app/api-client';
import { OctagonAlert } from 'lucide-react';
import { texts } from '../../texts/index.js';
import { VisibleText } from '../../ui/diff/visible-text.js';

/** Findings of one kind together: the kind in words, then what was found where. */
export function ApprovalFindings({ findings }: { readonly findings: readonly FindingView[] }) {
  if (findings.length === 0) return null;
  // Elsewhere than in the whole definition they are still there, and shown as code points.
  const isTakenOut = (code: string): boolean =>
    code === 'hidden_characters' &&
    findings.some((one) => one.code === code && one.where === 'definition');
  const codes = [...new Set(findings.map(({ code }) => code))];
  return (
    <section role="note" className="bg-bad-weak border-line flex gap-3 border-b px-5 py-3">
      <OctagonAlert size={16} aria-hidden className="text-bad mt-0.5 shrink-0" />
      <dl className="grid min-w-0 grow gap-x-6 gap-y-1.5 nav:grid-cols-[max-content_1fr]">
        {codes.map((code) => (
          <div key={code} className="contents">
            <dt className="font-semibold">{texts.approvals.finding[code]}</dt>
            <dd className="flex min-w-0 flex-col gap-0.5">
              {findings
                .filter((finding) => finding.code === code)
                .map(({ where, text }, at) => (
                  <span key={at} className="[overflow-wrap:anywhere]">
                    <VisibleText>{text}</VisibleText>{' '}
                    <span className="text-text-2 font-mono text-small">{where}</span>
                  </span>
                ))}
              {isTakenOut(code) && (
                <span className="text-text-2">{texts.approvals.hiddenRemoved}</span>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
