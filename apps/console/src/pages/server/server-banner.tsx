import { useQuery } from '@tanstack/react-query';
import { KeyRound, Plug, RefreshCw } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ServerView } from '@app/api-client';
import { reasonOfServer } from '../../model/server-state.js';
import { type ServerAction, useServerAction } from '../../servers/server-actions.js';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { Banner } from '../../ui/banner.js';
import { Button } from '../../ui/button.js';
import { TimeAgo } from '../../ui/time.js';
import { AuthorizeButton } from './authorize-button.js';
import { serverHealthQuery } from './server-queries.js';

const t = texts.server.banner;

/** What a person has to know or do, in a sentence with its one action; nothing while the server is ready. */
export function ServerBanner({ server }: { readonly server: ServerView }) {
  return (
    <div className="grid gap-2 px-5 empty:hidden [&>*:first-child]:mt-3">
      <BannerOf server={server} />
      {server.warnings.length > 0 && <Warnings warnings={server.warnings} />}
    </div>
  );
}

function BannerOf({ server }: { readonly server: ServerView }) {
  const reason = reasonOfServer(server);
  switch (server.status) {
    case 'ERROR':
      return server.needs_login ? (
        <Banner kind="warn" icon={KeyRound} action={<AuthorizeButton id={server.id} primary />}>
          <strong>{t.needsLogin}</strong> {reason}
        </Banner>
      ) : (
        <Banner kind="bad" action={<Act server={server} action="connect" label={t.connectNow} />}>
          <strong>{t.failing}</strong> {reason} <NextStep />
        </Banner>
      );
    case 'DEGRADED':
      return <Degraded server={server} />;
    case 'DISCONNECTED':
    case 'DISCONNECTING':
      return (
        <Banner
          kind="info"
          action={<Act server={server} action="connect" label={texts.servers.actions.connect} />}
        >
          <strong>{t.off}</strong> {t.offEffect}
        </Banner>
      );
    case 'CONNECTED':
      return reason === null ? null : (
        <Banner kind="warn" action={<Act server={server} action="refresh" label={t.listAgain} />}>
          <strong>{t.notListed}</strong> {reason}
        </Banner>
      );
    case 'CONNECTING':
      return null;
    default:
      return server.status satisfies never;
  }
}

function NextStep() {
  return <span className="text-text-2">{t.triedAgain}</span>;
}

function Degraded({ server }: { readonly server: ServerView }) {
  const { data: health } = useQuery(serverHealthQuery(server.id));
  return (
    <Banner kind="warn">
      <strong>{t.slow}</strong> {health?.last_error ?? reasonOfServer(server)}{' '}
      {health && (
        <span className="text-text-2">
          {t.lastCheck} <TimeAgo at={health.last_health_check} />.
        </span>
      )}
    </Banner>
  );
}

interface ActProps {
  readonly server: ServerView;
  readonly action: ServerAction;
  readonly label: string;
}

function Act({ server, action, label }: ActProps): ReactNode {
  const mayOperate = useMay('operate');
  const work = useServerAction();
  if (!mayOperate) return null;
  return (
    <Button
      icon={action === 'connect' ? Plug : RefreshCw}
      busy={work.isPending}
      onClick={() => work.mutate({ action, servers: [server] })}
    >
      {label}
    </Button>
  );
}

/** For the owner of the server to fix. */
function Warnings({ warnings }: { readonly warnings: readonly string[] }) {
  return (
    <Banner kind="warn">
      <details>
        <summary>
          <strong>{texts.servers.warnings(warnings.length)}</strong> {t.warningsHint}
        </summary>
        <ul className="mt-2 max-h-60 list-disc overflow-auto pl-5">
          {warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      </details>
    </Banner>
  );
}
