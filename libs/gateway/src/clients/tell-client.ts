import type { ActivityFeed } from '@app/activity';
import type { ConnectedClient } from '@app/mcp-server';

/** Tells those who listen of clients that come and go. */
export function tellClient(
  feed: ActivityFeed,
): (change: 'opened' | 'ended', client: ConnectedClient) => void {
  return (change, { id, era, info, endpoint, caller }) => {
    const data = { change, session_id: id, era, client: info.name, endpoint };
    void feed.tell({ topic: 'session', data, caller });
  };
}
