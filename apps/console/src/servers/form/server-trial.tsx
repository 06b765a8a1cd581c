import { useMutation } from '@tanstack/react-query';
import { FlaskConical } from 'lucide-react';
import type { ServerTestView, TestedServerView } from '@app/api-client';
import { reasonOf } from '../../api/refused.js';
import { ask } from '../../api/service.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { duration } from '../../ui/format.js';
import { StateMark } from '../../ui/state-mark.js';
import { configOf, registrationOf, type ServerDraft } from './server-draft.js';

const t = texts.servers.trial;

/** Connects to the settings without saving them; with an id, as a change of that server. */
export function testServer(draft: ServerDraft, serverId?: string): Promise<ServerTestView> {
  const { name, transport_type, health_check_url } = registrationOf(draft);
  const body = {
    ...(name !== '' && { name }),
    transport_type,
    connection_config: configOf(draft),
    ...(health_check_url && { health_check_url }),
    ...(serverId !== undefined && { server_id: serverId }),
  };
  return ask((api) => api.testServer({ body }));
}

/** `testServer` for a form. */
export function useServerTrial(serverId?: string) {
  return useMutation({
    mutationFn: (draft: ServerDraft) => testServer(draft, serverId),
    meta: { showsError: true },
  });
}

export type ServerTrial = ReturnType<typeof useServerTrial>;

interface TrialButtonProps {
  readonly trial: ServerTrial;
  readonly onTest: () => void;
}

export function TrialButton({ trial, onTest }: TrialButtonProps) {
  return (
    <Button icon={FlaskConical} busy={trial.isPending} onClick={onTest}>
      {t.test}
    </Button>
  );
}

/** What the test found; fields show what was refused about them. */
export function TrialOutcome({ trial }: { readonly trial: ServerTrial }) {
  if (trial.isPending) return <p className="text-text-2 text-small">{t.testing}</p>;
  if (trial.isError) {
    return (
      <p role="alert" className="text-bad text-small [overflow-wrap:anywhere]">
        {reasonOf(trial.error)}
      </p>
    );
  }
  return trial.data ? <Found found={trial.data} /> : null;
}

export function Found({ found }: { readonly found: ServerTestView }) {
  const { server, error, needs_login: needsLogin, login_issuer: issuer, warnings, log } = found;
  return (
    <div role="status" className="grid gap-1 text-small [overflow-wrap:anywhere]">
      {server && <Answer server={server} ms={found.latency_ms} />}
      {needsLogin && (
        <>
          <StateMark state="login">{t.needsLogin}</StateMark>
          <span className="text-text-2">{issuer === null ? t.loginLater : t.loginAt(issuer)}</span>
        </>
      )}
      {error && !needsLogin && (
        <>
          <StateMark state="failing">{t.failed}</StateMark>
          <span>{error.message}</span>
          <span className="text-text-2">{error.next_step}</span>
        </>
      )}
      {warnings.map((warning) => (
        <span key={warning} className="text-warn">
          {warning}
        </span>
      ))}
      {log.length > 0 && (
        <pre
          tabIndex={0}
          className="border-line bg-page max-h-30 overflow-auto rounded-2 border px-2 py-1 font-mono text-label whitespace-pre-wrap"
        >
          {log.join('\n')}
        </pre>
      )}
    </div>
  );
}

interface AnswerProps {
  readonly server: TestedServerView;
  readonly ms: number;
}

function Answer({ server, ms }: AnswerProps) {
  const { tools, prompts, resources, server_info: info } = server;
  const name = [info['name'], info['version']].filter((part) => typeof part === 'string').join(' ');
  return (
    <>
      <StateMark state="ready">{t.works(tools.count, duration(ms))}</StateMark>
      <span className="text-text-2">
        {t.answer(name, server.protocol_version, prompts.count, resources.count)}
      </span>
      {tools.count > 0 && (
        <details>
          <summary className="text-text-2">{t.tools}</summary>
          <ul className="max-h-40 overflow-auto pl-4 font-mono">
            {tools.items.map(({ name: tool, description }) => (
              <li key={tool} title={description}>
                {tool}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}
