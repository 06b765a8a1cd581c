import { SYSTEM, type AuditStore } from '@app/access';
import type { Clock, Replicas, Signals } from '@app/platform';
import { ChangeServerStatus, type Server, type ServerStatus } from '@app/registry';
import type { CommandBus, QueryBus } from '@nestjs/cqrs';
import type { SessionPool } from '../keep/session-pool.js';
import { ConnectServer, ConnectServerHandler } from './connect-server.command.js';

describe(ConnectServer.name, () => {
  /** Connects a server of this status; returns the transitions that were asked for, and how it was opened. */
  async function connect(status: ServerStatus, wanted: boolean) {
    const transitions: string[] = [];
    const opened: boolean[] = [];
    const pool = {
      leads: true,
      get: () => undefined,
      refuseIfDisabled: () => undefined,
      isReady: () => Promise.resolve(),
      open: (_: unknown, { isAnnounced }: { isAnnounced: boolean }) =>
        Promise.resolve(opened.push(isAnnounced)),
    };
    const commands = {
      execute: (command: unknown) => {
        if (command instanceof ChangeServerStatus) transitions.push(command.signal);
        return Promise.resolve({ from: status, to: 'CONNECTING' });
      },
    };
    const server: Partial<Server> = { id: 'a', name: 'a', status, wanted, errorMessage: null };
    const handler = new ConnectServerHandler(
      pool as unknown as SessionPool,
      commands as unknown as CommandBus,
      { execute: () => Promise.resolve(server) } as unknown as QueryBus,
      { record: () => Promise.resolve() } as unknown as AuditStore,
      {} as Signals,
      {} as Clock,
      { tell: () => Promise.resolve() } as unknown as Replicas,
    );
    await handler.execute(new ConnectServer('a', 0, SYSTEM));
    return { transitions, opened };
  }

  it('joins the attempt of a server that is connecting, without a transition that would be refused', async () => {
    expect(await connect('CONNECTING', true)).toEqual({ transitions: [], opened: [false] });
  });

  it.each([
    ['DISCONNECTED', false],
    ['ERROR', true],
    ['CONNECTING', false],
  ] as const)('writes that a server is wanted which is %s (wanted: %s)', async (status, wanted) => {
    expect(await connect(status, wanted)).toEqual({ transitions: ['connect'], opened: [true] });
  });
});
