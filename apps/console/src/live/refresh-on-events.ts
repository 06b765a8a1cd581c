import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { liveChannel, useLiveEvents } from './live-channel.js';

/** First members of query keys (see `api/queries.ts`) that an event of a topic makes stale. */
const stale: Readonly<Record<string, readonly string[]>> = {
  server: ['servers', 'state', 'tools', 'health'],
  catalogue: ['tools', 'servers', 'state', 'skills', 'approvals'],
  health: ['servers', 'health'],
  session: ['sessions'],
  approval: ['approvals', 'tools', 'servers', 'state'],
  policy: ['views', 'grants', 'policy', 'tools', 'tokens'],
  gap: [
    'servers',
    'tools',
    'state',
    'health',
    'sessions',
    'approvals',
    'views',
    'grants',
    'tokens',
  ],
};

/** Lists that are shown are read again at most this often, however many events arrive. */
const WAIT_MS = 300;

/** Opens the live channel, and reads again what its events made stale. */
export function useRefreshOnEvents(): void {
  const client = useQueryClient();
  const waiting = useRef(new Set<string>());
  const timer = useRef<number | undefined>(undefined);
  useEffect(() => {
    liveChannel.open();
    return () => liveChannel.close();
  }, []);
  useLiveEvents(({ topic }) => {
    for (const key of stale[topic] ?? []) waiting.current.add(key);
    if (waiting.current.size === 0 || timer.current !== undefined) return;
    timer.current = window.setTimeout(() => {
      timer.current = undefined;
      for (const key of waiting.current) void client.invalidateQueries({ queryKey: [key] });
      waiting.current.clear();
    }, WAIT_MS);
  });
}
