import { useMutation, useQueryClient } from '@tanstack/react-query';
import { toast } from 'sonner';
import type { ServerView } from '@app/api-client';
import { serversQuery } from '../api/queries.js';
import { reasonOf } from '../api/refused.js';
import { ask } from '../api/service.js';
import { texts } from '../texts/index.js';

export type ServerAction = 'connect' | 'disconnect' | 'reconnect' | 'refresh' | 'remove';

interface Outcome {
  readonly done: readonly ServerView[];
  readonly failed: readonly { readonly server: ServerView; readonly reason: string }[];
}

/** For running calls to end. */
const WAIT_S = 10;
/** Requests that run at the same time. */
const AT_ONCE = 4;

async function run(action: ServerAction, { id }: ServerView): Promise<void> {
  switch (action) {
    case 'connect':
      await ask((api) => api.connectServer({ path: { id } }));
      return;
    case 'disconnect':
      await ask((api) => api.disconnectServer({ path: { id }, body: {} }));
      return;
    case 'reconnect':
      await ask((api) =>
        api.disconnectServer({ path: { id }, body: {}, query: { wait_seconds: WAIT_S } }),
      );
      await ask((api) => api.connectServer({ path: { id } }));
      return;
    case 'refresh':
      await ask((api) => api.refreshServerTools({ path: { id } }));
      return;
    case 'remove':
      await ask((api) => api.removeServer({ path: { id } }));
      return;
    default:
      action satisfies never;
  }
}

async function runAll(action: ServerAction, servers: readonly ServerView[]): Promise<Outcome> {
  const waiting = [...servers];
  const done: ServerView[] = [];
  const failed: { server: ServerView; reason: string }[] = [];
  const work = async (): Promise<void> => {
    for (let server = waiting.shift(); server; server = waiting.shift()) {
      try {
        await run(action, server);
        done.push(server);
      } catch (error) {
        failed.push({ server, reason: reasonOf(error) });
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { done, failed };
}

/** What a row will show once the action is done; undefined for a row that leaves. */
function foreseen(action: ServerAction, server: ServerView): ServerView | undefined {
  switch (action) {
    case 'connect':
      return server.status === 'CONNECTED' ? server : { ...server, status: 'CONNECTING' };
    case 'reconnect':
      return { ...server, status: 'CONNECTING' };
    case 'disconnect':
      return { ...server, status: 'DISCONNECTED', error_message: null };
    case 'refresh':
      return server;
    case 'remove':
      return undefined;
    default:
      return action satisfies never;
  }
}

/** Does one thing with some servers; the list shows it at once, and takes back what was refused. */
export function useServerAction() {
  const client = useQueryClient();
  const { queryKey } = serversQuery;
  return useMutation({
    mutationFn: ({ action, servers }: Work) => runAll(action, servers),
    onMutate: async ({ action, servers }: Work) => {
      await client.cancelQueries({ queryKey });
      const ids = new Set(servers.map(({ id }) => id));
      client.setQueryData(queryKey, (rows) =>
        rows?.flatMap((row) => (ids.has(row.id) ? (foreseen(action, row) ?? []) : row)),
      );
    },
    onSuccess: ({ done, failed }, { action, undo }) => {
      for (const { server, reason } of failed) {
        toast.error(texts.servers.notDone[action](server.name), { description: reason });
      }
      if (done.length > 0) toast.success(saidOf(action, done), undo && undoOf(undo, done));
    },
    onSettled: () =>
      Promise.all(
        ['servers', 'state', 'tools', 'health'].map((key) =>
          client.invalidateQueries({ queryKey: [key] }),
        ),
      ),
  });
}

interface Work {
  readonly action: ServerAction;
  readonly servers: readonly ServerView[];
  /** Offered with the message that it is done. */
  readonly undo?: (servers: readonly ServerView[]) => void;
}

function undoOf(undo: (servers: readonly ServerView[]) => void, done: readonly ServerView[]) {
  return { action: { label: texts.servers.undo, onClick: () => undo(done) } };
}

function saidOf(action: ServerAction, done: readonly ServerView[]): string {
  const [only] = done;
  const what = done.length === 1 && only ? only.name : texts.servers.number(done.length);
  const tools = done.reduce((sum, { tool_count: count }) => sum + count, 0);
  return texts.servers.done[action](what, tools);
}
