import type { ServerView } from '@app/api-client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { stateOfServer } from '../../model/server-state.js';
import { texts } from '../../texts/index.js';
import { duration } from '../../ui/format.js';
import { Pane } from '../../ui/pane.js';
import { StateMark } from '../../ui/state-mark.js';
import { ServerName } from '../../ui/tool-name.js';
import { statsQuery } from '../../api/queries.js';
import { useWindow } from '../../stats/stats.js';

const MOST_ROWS = 12;

/** The servers that are called most. */
export function ServersPane({ servers }: { readonly servers: readonly ServerView[] }) {
  const [window] = useWindow();
  const { data: stats } = useQuery(statsQuery(window, 'server'));
  const byId = new Map(stats?.series.map((series) => [series.server_id, series]));
  const calls = ({ id }: ServerView): number => byId.get(id)?.calls ?? 0;
  const shown = servers.toSorted((one, other) => calls(other) - calls(one)).slice(0, MOST_ROWS);
  return (
    <Pane
      title={texts.overview.servers}
      className="rail:border-r"
      actions={
        <Link to="/servers" className="text-small">
          {texts.overview.allServers(servers.length)}
        </Link>
      }
    >
      <table className="w-full">
        <thead className="text-text-2 text-left text-small">
          <tr className="border-line h-7 border-b [&>th]:font-normal">
            <th className="pl-5">{texts.overview.server}</th>
            <th>{texts.overview.state}</th>
            <th className="text-right">{texts.overview.tools}</th>
            <th className="pr-5 text-right">{texts.overview.p95}</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((server) => {
            const p95 = byId.get(server.id)?.p95_ms ?? null;
            return (
              <tr
                key={server.id}
                className="border-line hover:bg-hover h-(--row) border-b last:border-b-0"
              >
                <td className="pl-5">
                  <Link to="/servers/$name" params={{ name: server.name }} className="text-text">
                    <ServerName name={server.name} />
                  </Link>
                </td>
                <td>
                  <StateMark state={stateOfServer(server)} />
                </td>
                <td className="text-right">{server.tool_count}</td>
                <td className="pr-5 text-right">{p95 === null ? '–' : duration(p95)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Pane>
  );
}
