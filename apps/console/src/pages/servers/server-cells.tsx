import { Link } from '@tanstack/react-router';
import type { ServerView } from '@app/api-client';
import { couldLogIn, isServing, reasonOfServer, stateOfServer } from '../../model/server-state.js';
import { texts } from '../../texts/index.js';
import { count } from '../../ui/format.js';
import { StateMark } from '../../ui/state-mark.js';
import { TimeAgo } from '../../ui/time.js';
import { ServerName } from '../../ui/tool-name.js';

const t = texts.servers;

export function NameCell({ server }: { readonly server: ServerView }) {
  return (
    <>
      <Link
        to="/servers/$name"
        params={{ name: server.name }}
        title={server.description ?? server.name}
        className="block truncate !text-text no-underline hover:underline"
      >
        <ServerName name={server.name} />
      </Link>
      <span className="text-text-3 hidden truncate text-small tab:block">
        {[t.transports[server.transport_type], server.protocol_era].filter(Boolean).join(', ')}
      </span>
    </>
  );
}

/** The state, and the newest thing worth a sentence. */
export function StateCell({ server }: { readonly server: ServerView }) {
  return (
    <>
      <span className="block">
        <StateMark state={stateOfServer(server)} />
      </span>
      <span className="text-text-2 block truncate text-small">
        <LastEvent server={server} />
      </span>
    </>
  );
}

export function LastEvent({ server }: { readonly server: ServerView }) {
  const title = server.error_message ?? server.warnings.join('\n');
  return <span title={title}>{reasonOfServer(server) ?? <QuietEvent server={server} />}</span>;
}

function QuietEvent({ server }: { readonly server: ServerView }) {
  const state = stateOfServer(server);
  if (state === 'off') return t.offByRequest;
  if (state === 'connecting') return t.connecting;
  if (server.withheld_count > 0)
    return <span className="text-warn">{t.withheld(server.withheld_count)}</span>;
  if (couldLogIn(server)) return <span className="text-warn">{t.couldLogIn}</span>;
  if (server.warnings.length > 0)
    return <span className="text-warn">{t.warnings(server.warnings.length)}</span>;
  const at = server.last_health_check ?? server.connected_at;
  return (
    <>
      {server.last_health_check === null ? t.notChecked : t.checked} <TimeAgo at={at} />
    </>
  );
}

/** Tools of a server that cannot be called are known, but offered to nobody. */
export function ToolsCell({ server }: { readonly server: ServerView }) {
  const offered = server.tool_count;
  const known = offered + server.withheld_count;
  if (isServing(server)) return known === offered ? count(offered) : t.ofKnown(offered, known);
  if (known === 0) return count(known);
  const look = stateOfServer(server) === 'failing' ? 'text-bad' : 'text-text-2';
  return <span className={look}>{t.ofKnown(0, known)}</span>;
}
