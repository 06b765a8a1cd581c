import type { QueryBus } from '@nestjs/cqrs';
import { ServerRegistered } from '@app/events';
import { ServerNotFound } from '@app/registry';
import { OpenSessionOnServerRegistered } from './open-session.on-server-registered.js';
import type { OwnAddress } from '@app/authorization';
import type { Replicas } from '@app/platform';
import type { SessionPool } from '../keep/session-pool.js';

describe(OpenSessionOnServerRegistered.name, () => {
  const opened: string[] = [];
  const address = { isListening: false };
  const listener = new OpenSessionOnServerRegistered(
    {
      execute: ({ serverId }: { serverId: string }) =>
        serverId === 'removed'
          ? Promise.reject(new ServerNotFound(serverId))
          : Promise.resolve({ id: serverId, status: 'CONNECTING' }),
    } as unknown as QueryBus,
    {
      leads: true,
      open: ({ id }: { id: string }) => Promise.resolve(opened.push(id)),
    } as unknown as SessionPool,
    address as OwnAddress,
    {} as Replicas,
  );

  it('starts no program during startup', async () => {
    await listener.handle(new ServerRegistered('early'));
    expect(opened).toEqual([]);
  });

  it('connects a server that is registered after startup', async () => {
    address.isListening = true;
    await listener.handle(new ServerRegistered('late'));
    expect(opened).toEqual(['late']);
  });

  it('does nothing for a server that has been removed since', async () => {
    await listener.handle(new ServerRegistered('removed'));
    expect(opened).not.toContain('removed');
  });
});
