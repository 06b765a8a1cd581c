import { duration } from '../health.js';
import type { RestClient } from '../rest-client.js';
import type { CommandResult } from '../session.js';
import { table } from '../table.js';
import { serverId } from './find-server.js';

/** Newest first, as every list of what has happened. */
export async function showTimeline(
  rest: RestClient,
  server: string,
  window: string,
): Promise<CommandResult> {
  const id = await serverId(rest, server);
  const json = await rest.ask((api) =>
    api.getServerHealthHistory({ path: { id }, query: { window } }),
  );
  const { ready_share: ready } = json;
  const headings = ['FROM', 'STATUS', 'FOR', 'CHECKS', 'P95', ''];
  return {
    json,
    text: (screen) => {
      const rows = json.intervals
        .toReversed()
        .map((interval) => [
          interval.from,
          interval.state,
          duration((Date.parse(interval.to) - Date.parse(interval.from)) / 1_000),
          interval.latency ? String(interval.latency.checks) : '',
          interval.latency?.p95_ms == null ? '' : `${interval.latency.p95_ms} ms`,
          interval.reason ?? '',
        ]);
      const share = ready === null ? [] : [`Connected ${(ready * 100).toFixed(1)} % of the time.`];
      return [table(headings, rows, screen), ...share].join('\n\n');
    },
  };
}
