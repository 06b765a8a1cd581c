import type { UpstreamSession } from '@app/mcp';
import type { JsonObject } from '@app/platform';
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

describe(ResourceSubscriptions.name, () => {
  it('subscribes once for all who want to hear, and ends it with the last', async () => {
    const { sent, session: open } = session();
    const subscriptions = new ResourceSubscriptions({ get: () => open } as never);
    const first = await subscriptions.subscribe('s', 'a', open);
    const second = await subscriptions.subscribe('s', 'a', open);
    first();
    first();
    expect(sent).toEqual(['subscribe "a"']);
    second();
    expect(sent).toEqual(['subscribe "a"', 'unsubscribe "a"']);
  });

  it('subscribes anew in a new session', async () => {
    const old = session();
    const fresh = session(['"b"']);
    const subscriptions = new ResourceSubscriptions({ get: () => old.session } as never);
    for (const uri of ['a', 'b', 'c']) await subscriptions.subscribe('s', uri, old.session);
    (await subscriptions.subscribe('s', 'gone', old.session))();
    await subscriptions.restore('s', fresh.session);
    expect(fresh.sent).toEqual(['subscribe "a"', 'subscribe "c"']);
  });

  it('holds nothing when the server refuses', async () => {
    const { session: open } = session(['"a"']);
    const subscriptions = new ResourceSubscriptions({ get: () => open } as never);
    await expect(subscriptions.subscribe('s', 'a', open)).rejects.toThrow('refused');
    const fresh = session();
    await subscriptions.restore('s', fresh.session);
    expect(fresh.sent).toEqual([]);
  });
});
