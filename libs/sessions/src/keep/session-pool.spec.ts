import type { Leadership, Tracing } from '@app/platform';
import type { CommandBus } from '@nestjs/cqrs';
import type { AuditStore } from '@app/access';
import { ToolListChanged } from '@app/events';
import type { Signals } from '@app/platform';
import { FakeClock, settle } from '../../../../test/support/fake-clock.js';
import { testEnv } from '../../../../test/support/env.js';
import { FakeSession } from './fake-session.js';
import { SessionPool } from './session-pool.js';
import type { UpstreamConnector } from '../connect/upstream-connector.js';

const untraced = {
  work: <T>(_name: string, _attributes: unknown, work: () => Promise<T>) => work(),
} as Tracing;

async function opened() {
  const clock = new FakeClock();
  const session = new FakeSession();
  const events: object[] = [];
  const pool = new SessionPool(
    { connect: () => Promise.resolve(session) } as unknown as UpstreamConnector,
    { leads: true } as Leadership,
    { execute: () => Promise.resolve() } as unknown as CommandBus,
    { tell: (event: object) => Promise.resolve(void events.push(event)) } as unknown as Signals,
    {} as AuditStore,
    clock,
    untraced,
    testEnv('unused'),
  );
  await pool.open({ id: 'a', name: 'a' }, { background: false, probe: false });
  await settle();
  const heard: string[] = [];
  pool.onServerNotice((_id, method, params) => {
    const what = method.replace('notifications/', '');
    heard.push(typeof params['uri'] === 'string' ? `${what} ${params['uri']}` : what);
  });
  return { clock, session, heard, events, pool };
}

const lists = ['tools', 'prompts', 'resources'];

describe('a burst of notifications from one server', () => {
  it.each(lists)(
    'that its %s changed is forwarded once at once and once afterwards',
    async (kind) => {
      const { clock, session, heard } = await opened();
      for (let i = 0; i < 9_720; i++) session.say(`notifications/${kind}/list_changed`);
      expect(heard).toEqual([`${kind}/list_changed`]);
      await clock.advance(60_000);
      expect(heard).toEqual([`${kind}/list_changed`, `${kind}/list_changed`]);
    },
  );

  it('is forwarded at growing intervals while it continues', async () => {
    const { clock, session, heard } = await opened();
    for (let ms = 0; ms < 60_000; ms += 50) {
      session.say('notifications/resources/list_changed');
      await clock.advance(50);
    }
    expect(heard.length).toBeGreaterThan(10);
    expect(heard.length).toBeLessThan(20);
  });

  it('starts one tool discovery per forwarded notification', async () => {
    const { clock, session, events } = await opened();
    for (let i = 0; i < 1_000; i++) session.say('notifications/tools/list_changed');
    await clock.advance(60_000);
    expect(events.filter((event) => event instanceof ToolListChanged)).toHaveLength(2);
  });

  it('about resources is coalesced per resource', async () => {
    const { clock, session, heard } = await opened();
    for (let i = 0; i < 1_000; i++) {
      session.say('notifications/resources/updated', { uri: 'file:///a' });
      session.say('notifications/resources/updated', { uri: 'file:///b' });
    }
    expect(heard).toEqual(['resources/updated file:///a', 'resources/updated file:///b']);
    await clock.advance(60_000);
    expect(heard).toHaveLength(4);
  });

  it('is not coalesced when each notification has its own content', async () => {
    const { session, heard } = await opened();
    for (let i = 0; i < 10; i++) session.say('notifications/message', { data: i });
    expect(heard).toHaveLength(10);
  });

  it('does not delay the first change after it', async () => {
    const { clock, session, heard } = await opened();
    for (let i = 0; i < 100; i++) session.say('notifications/prompts/list_changed');
    await clock.advance(60_000);
    heard.length = 0;
    session.say('notifications/prompts/list_changed');
    expect(heard).toEqual(['prompts/list_changed']);
  });
});

describe('a pool of sessions', () => {
  it('is unused without a session and without a client that waits for messages of a server', async () => {
    const { pool } = await opened();
    expect(pool.isUnused).toBe(false);
    await pool.closeAll(0);
    expect(pool.isUnused).toBe(true);
    pool.setAudience((serverId) => serverId === undefined || serverId === 'a');
    expect(pool.isUnused).toBe(false);
  });
});
