import type { UpstreamSession } from '@app/mcp-client';
import type { JsonObject } from '@app/platform';
import { eventually } from '../../../../test/support/eventually.js';
import { ResourceSubscriptions } from './resource-subscriptions.js';

function session(refuse: readonly string[] = []) {
  const sent: string[] = [];
  const request = async (method: string, params: JsonObject): Promise<JsonObject> => {
    const uri = JSON.stringify(params['uri']);
    if (refuse.includes(uri)) throw new Error('refused');
    sent.push(`${method.replace('resources/', '')} ${uri}`);
    return {};
  };
  return { sent, session: { request } as unknown as UpstreamSession };
}

const ignore = (): void => undefined;

describe(ResourceSubscriptions.name, () => {
  it('subscribes once for all listeners, and unsubscribes with the last', async () => {
    const { sent, session: open } = session();
    const subscriptions = new ResourceSubscriptions({ get: () => open } as never);
    const first = await subscriptions.subscribe('s', 'a', open, ignore);
    const second = await subscriptions.subscribe('s', 'a', open, ignore);
    first();
    first();
    expect(sent).toEqual(['subscribe "a"']);
    second();
    await eventually(() => expect(sent).toEqual(['subscribe "a"', 'unsubscribe "a"']));
  });

  it('keeps a subscription that began while the last one was being ended', async () => {
    const { sent, session: open } = session();
    const subscriptions = new ResourceSubscriptions({ get: () => open } as never);
    const first = await subscriptions.subscribe('s', 'a', open, ignore);
    first();
    const second = subscriptions.subscribe('s', 'a', open, ignore);
    first();
    await second;
    expect(sent.at(-1)).toBe('subscribe "a"');
    const fresh = session();
    await subscriptions.restore('s', fresh.session);
    expect(fresh.sent).toEqual(['subscribe "a"']);
  });

  it('notifies the subscribers of a resource on its server', async () => {
    const { session: open } = session();
    const subscriptions = new ResourceSubscriptions({ get: () => open } as never);
    const heard: string[] = [];
    await subscriptions.subscribe('s', 'a', open, () => heard.push('s a'));
    await subscriptions.subscribe('other', 'a', open, () => heard.push('other a'));
    subscriptions.updated('s', 'a');
    subscriptions.updated('s', 'b');
    subscriptions.updated('third', 'a');
    expect(heard).toEqual(['s a']);
  });

  it('renews subscriptions in a new session', async () => {
    const old = session();
    const fresh = session(['"b"']);
    const subscriptions = new ResourceSubscriptions({ get: () => old.session } as never);
    for (const uri of ['a', 'b', 'c']) await subscriptions.subscribe('s', uri, old.session, ignore);
    (await subscriptions.subscribe('s', 'gone', old.session, ignore))();
    await subscriptions.restore('s', fresh.session);
    expect(fresh.sent).toEqual(['subscribe "a"', 'subscribe "c"']);
  });

  it('keeps nothing when the server refuses', async () => {
    const { session: open } = session(['"a"']);
    const subscriptions = new ResourceSubscriptions({ get: () => open } as never);
    await expect(subscriptions.subscribe('s', 'a', open, ignore)).rejects.toThrow('refused');
    const fresh = session();
    await subscriptions.restore('s', fresh.session);
    expect(fresh.sent).toEqual([]);
  });
});
