import { Client as ModernSdk, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as LegacySdk } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { eventually } from './eventually.js';
import { type HttpPeer, httpPeer } from './peers.js';

type Era = 'legacy' | 'modern';

/** What the clients talk to: one process, or several behind a load balancer. */
export interface Entry {
  readonly url: string;
  readonly token?: string;
  /** How the server "peer" is spoken to. */
  era(): Promise<Era | 'none'>;
  /** Calls of the server "peer" that wait for its answer. */
  pending(): number;
  close(): Promise<void>;
}

/** The capabilities of a client, with the same interface for both eras. */
interface AnyClient {
  list(): Promise<string[]>;
  call(
    name: string,
    args?: Record<string, unknown>,
    options?: { signal?: AbortSignal; onprogress?: (progress: { progress: number }) => void },
  ): Promise<unknown>;
  onToolsChanged(listener: () => void): Promise<void>;
  close(): Promise<void>;
}

const colour = { action: 'accept', content: { colour: 'red' } } as const;
const said = {
  role: 'assistant',
  content: { type: 'text', text: 'something' },
  model: 'a model',
} as const;
const capabilities = { elicitation: {}, sampling: {} };

async function legacyClient(url: URL, token = ''): Promise<AnyClient> {
  const client = new LegacySdk({ name: 'old', version: '1' }, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, () => colour);
  client.setRequestHandler(CreateMessageRequestSchema, () => said);
  // The SDK's own types conflict with exactOptionalPropertyTypes.
  const transport = new LegacyTransport(url, withToken(token)) as Parameters<
    LegacySdk['connect']
  >[0];
  await client.connect(transport);
  return {
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}, options = {}) =>
      (await client.callTool({ name, arguments: args }, undefined, options)).content,
    onToolsChanged: async (listener) =>
      client.setNotificationHandler(ToolListChangedNotificationSchema, listener),
    close: () => client.close(),
  };
}

async function modernClient(url: URL, token = ''): Promise<AnyClient> {
  const client = new ModernSdk(
    { name: 'new', version: '1' },
    {
      capabilities: { ...capabilities, elicitation: { form: {} } },
      versionNegotiation: { mode: { pin: '2026-07-28' } },
    },
  );
  client.setRequestHandler('elicitation/create', () => colour);
  client.setRequestHandler('sampling/createMessage', () => said);
  await client.connect(new StreamableHTTPClientTransport(url, withToken(token)));
  return {
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}, options = {}) =>
      (await client.callTool({ name, arguments: args }, options)).content,
    onToolsChanged: async (listener) => {
      client.setNotificationHandler('notifications/tools/list_changed', listener);
      await client.listen({ toolsListChanged: true });
    },
    close: () => client.close(),
  };
}

const withToken = (token: string): object => ({
  requestInit: { headers: { authorization: `Bearer ${token}` } },
});

const clients = { legacy: legacyClient, modern: modernClient } as const;
const text = (text: string): unknown => [{ type: 'text', text }];
/** The response as the server saw it; the SDK's clients order fields differently. */
const answerIn = (content: unknown): unknown =>
  JSON.parse((content as [{ text: string }])[0].text) as unknown;

/** The same tests for clients and servers of both eras. `start` registers a server as "peer". */
export function describeFourCells(what: string, start: (server: string) => Promise<Entry>): void {
  describe.each([
    ['legacy', 'legacy'],
    ['legacy', 'modern'],
    ['modern', 'legacy'],
    ['modern', 'modern'],
  ] as const)(`a %s client and a %s server ${what}`, (clientEra, serverEra) => {
    let peer: HttpPeer;
    let entry: Entry;
    let client: AnyClient;
    let whole: AnyClient;

    beforeAll(async () => {
      peer = await (serverEra === 'legacy'
        ? httpPeer('peer-v1.mjs', ['http'])
        : httpPeer('peer-v2.mjs', ['http', 'modern']));
      entry = await start(peer.url);
      expect(await entry.era()).toBe(serverEra);
      client = await clients[clientEra](new URL('/mcp/servers/peer', entry.url), entry.token);
      whole = await clients[clientEra](new URL('/mcp', entry.url), entry.token);
    });
    afterAll(async () => {
      await Promise.all([client.close(), whole.close()]);
      await entry.close();
      await peer.stop();
    });

    it('list', async () => {
      expect(await client.list()).toContain('echo');
      expect(await whole.list()).toContain('peer__echo');
    });

    it('call', async () => {
      expect(await client.call('echo', { text: 'hello' })).toEqual(text('hello'));
      expect(await whole.call('peer__echo', { text: 'hello' })).toEqual(text('hello'));
    });

    it('follow progress', async () => {
      const heard: number[] = [];
      const onprogress = ({ progress }: { progress: number }): void => void heard.push(progress);
      await client.call('count', { to: 3 }, { onprogress });
      await whole.call('peer__count', { to: 2 }, { onprogress });
      expect(heard).toEqual([1, 2, 3, 1, 2]);
    });

    it('cancel', async () => {
      const before = await client.call('cancelled');
      const cancelling = new AbortController();
      const waiting = client.call('wait', { ms: 60_000 }, { signal: cancelling.signal });
      const given = expect(waiting).rejects.toThrow();
      await eventually(() => expect(entry.pending()).toBeGreaterThan(0));
      cancelling.abort();
      await given;
      await eventually(async () => expect(await client.call('cancelled')).not.toEqual(before));
    });

    it('are notified of a changed list, and find the new tool', async () => {
      const before = await client.list();
      let heard = 0;
      await client.onToolsChanged(() => heard++);
      await eventually(async () => {
        // A notification before the client subscribed would be lost.
        await client.call('grow');
        expect(heard).toBeGreaterThan(0);
      });
      // Another replica than the one that notified may answer, and hears of the change a moment later.
      await eventually(async () =>
        expect((await client.list()).length).toBeGreaterThan(before.length),
      );
    });

    it('ask a person', async () => {
      expect(answerIn(await client.call('ask'))).toEqual(colour);
      expect(answerIn(await whole.call('peer__ask'))).toEqual(colour);
    });

    it('ask a model', async () => {
      expect(answerIn(await client.call('sample'))).toEqual(said);
      expect(answerIn(await whole.call('peer__sample'))).toEqual(said);
    });
  });
}
