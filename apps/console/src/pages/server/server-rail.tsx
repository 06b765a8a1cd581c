import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { serverQuery } from '../../api/queries.js';
import type { ServerDetailView, ServerView } from '@app/api-client';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Detail, Details } from '../../ui/details.js';
import { duration } from '../../ui/format.js';
import { ErrorPane, NoRight, Pane } from '../../ui/pane.js';
import { StateMark } from '../../ui/state-mark.js';
import { TimeAgo } from '../../ui/time.js';
import { useAddressState } from '../../ui/tabs.js';
import { AuthorizeButton } from './authorize-button.js';
import { LogPane } from './log-pane.js';
import { configLines } from './config-lines.js';
import { serverHealthQuery } from './server-queries.js';

const t = texts.server;

/** At the right; below the rest on screens narrower than 1200 px. */
export function ServerRail({ server }: { readonly server: ServerView }) {
  const { data: detail, error, isError, refetch } = useQuery(serverQuery(server.id));
  const maySeeLog = useMay('operate');
  const mayDefine = useMay('admin');
  return (
    <aside
      aria-label={t.about}
      className="border-line shrink-0 border-t rail:sticky rail:top-0 rail:flex rail:h-[calc(100dvh-var(--topbar))] rail:w-90 rail:flex-col rail:overflow-auto rail:border-t-0 rail:border-l"
    >
      {isError && <ErrorPane title={t.notRead} error={error} onRetry={() => void refetch()} />}
      {detail?.authorization && <LoginPane detail={detail} />}
      {detail && <ConnectionPane detail={detail} />}
      {maySeeLog && <LogPane server={server} />}
      {!mayDefine && <NoRight>{maySeeLog ? t.mayOperateOnly : t.mayLook}</NoRight>}
    </aside>
  );
}

function LoginPane({ detail }: { readonly detail: ServerDetailView }) {
  const { authorization } = detail;
  if (!authorization) return null;
  const isNeeded = authorization.status === 'needed';
  return (
    <Pane
      title={t.login.title}
      actions={
        <StateMark state={isNeeded ? 'login' : 'ready'}>{t.login[authorization.status]}</StateMark>
      }
    >
      <div className="px-5 pb-3 text-small">
        <p className="text-text-2 mb-2">{isNeeded ? t.login.neededHint : t.login.authorizedHint}</p>
        <AuthorizeButton id={detail.id} />
      </div>
    </Pane>
  );
}

function ConnectionPane({ detail }: { readonly detail: ServerDetailView }) {
  const [, setTab] = useAddressState('tab', 'tools');
  const mayDefine = useMay('admin');
  const { data: health } = useQuery(serverHealthQuery(detail.id));
  return (
    <Pane
      title={t.connection.title}
      aside={
        <span className="flex gap-1">
          <Badge>{texts.servers.transports[detail.transport_type]}</Badge>
          {detail.protocol_era !== null && <Badge>{detail.protocol_era}</Badge>}
        </span>
      }
      actions={
        mayDefine && (
          <Button small onClick={() => setTab('settings')}>
            {t.connection.edit}
          </Button>
        )
      }
    >
      <Details>
        {configLines(detail.connection_config).map(({ label, value }) => (
          <Detail key={label} label={label} mono>
            {value}
          </Detail>
        ))}
        <Detail label={t.connection.trust}>{texts.servers.form.trusts[detail.trust ?? '']}</Detail>
        {detail.connected_at !== null && (
          <Detail label={t.connection.since}>
            <TimeAgo at={detail.connected_at} />
          </Detail>
        )}
        {health && <LastCheck at={health.last_health_check} ms={health.response_time_ms} />}
        <Detail label={t.connection.registered}>
          <TimeAgo at={detail.registered_at} />
        </Detail>
      </Details>
    </Pane>
  );
}

interface LastCheckProps {
  readonly at: string | null;
  readonly ms: number | null;
}

function LastCheck({ at, ms }: LastCheckProps): ReactNode {
  if (at === null) return null;
  return (
    <Detail label={t.connection.lastCheck}>
      <TimeAgo at={at} />
      {ms !== null && `, ${duration(ms)}`}
    </Detail>
  );
}
