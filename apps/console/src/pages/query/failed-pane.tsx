import { CircleX } from 'lucide-react';
import { Refused } from '../../api/refused.js';
import { texts } from '../../texts/index.js';
import { ErrorPane } from '../../ui/pane.js';
import { LinkButton } from '../../ui/link-button.js';

const { query: t } = texts;

/** The reasons of the servers, if all of them failed. */
function reasonsOf(error: unknown): readonly string[] {
  if (!(error instanceof Refused)) return [];
  const { body } = error;
  if (typeof body !== 'object' || body === null || !('context' in body)) return [];
  const { context } = body;
  if (typeof context !== 'object' || context === null || !('errors' in context)) return [];
  const { errors } = context;
  return Array.isArray(errors) ? errors.filter((one) => typeof one === 'string') : [];
}

interface FailedPaneProps {
  readonly error: unknown;
  readonly onRetry: () => void;
}

export function FailedPane({ error, onRetry }: FailedPaneProps) {
  const reasons = reasonsOf(error);
  return (
    <>
      <ErrorPane title={t.couldNot} error={error} onRetry={onRetry} />
      {reasons.length > 0 && (
        <div className="px-5 pb-5">
          <ul className="border-line max-w-160 border-t">
            {reasons.map((reason) => (
              <li key={reason} className="border-line flex gap-2 border-b py-1.5">
                <CircleX size={14} aria-hidden className="text-bad mt-0.5 shrink-0" />
                <span className="min-w-0 [overflow-wrap:anywhere]">{reason}</span>
              </li>
            ))}
          </ul>
          <p className="pt-3">
            <LinkButton to="/servers">{t.toServers}</LinkButton>
          </p>
        </div>
      )}
    </>
  );
}
