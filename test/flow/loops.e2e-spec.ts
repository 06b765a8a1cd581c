import { EventBus } from '@nestjs/cqrs';
import { ToolListChanged } from '@app/events';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { join } from 'node:path';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { fixture, stdioPeer } from '../support/peers.js';

const { command, args } = stdioPeer(fixture('peer-v1.mjs'), ['stdio']);
const program = join(process.cwd(), 'dist/apps/aggregator/src/cli.js');

interface Registered {
  readonly id: string;
  readonly name: string;
  readonly service: Service;
}

/** One aggregator with one server. */
class Service {
  readonly api: Api;
  private constructor(readonly app: TestApp) {
    this.api = new Api(app);
  }

  static async start(settings: Record<string, string> = {}): Promise<Service> {
    const service = new Service(await startApp(settings));
    const id = await service.api.register({
      name: 'own',
      transport_type: 'STDIO',
      connection_config: { command, args },
    });
    await eventually(async () => expect(await service.api.status(id)).toBe('CONNECTED'));
    await eventually(async () => expect(await service.tools()).toContain('own__echo'));
    return service;
  }

  async register(name: string, other: Service, path = '/mcp'): Promise<Registered> {
    const id = await this.api.register({
      name,
      transport_type: 'HTTP',
      connection_config: {
        base_url: other.app.url + path,
        headers: { Authorization: `Bearer ${other.app.token}` },
      },
    });
    return { id, name, service: this };
  }

  async client(path = '/mcp'): Promise<Client> {
    const client = new Client({ name: 'test', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL(path, this.app.url), {
      requestInit: { headers: { authorization: `Bearer ${this.app.token}` } },
    });
    // The SDK's own types conflict with exactOptionalPropertyTypes.
    await client.connect(transport as Parameters<Client['connect']>[0]);
    return client;
  }

  async tools(): Promise<string[]> {
    const client = await this.client();
    try {
      const names: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await client.listTools(cursor === undefined ? {} : { cursor });
        names.push(...page.tools.map((tool) => tool.name));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      return names;
    } finally {
      await client.close();
    }
  }

  async call(name: string, text: string): Promise<unknown> {
    const client = await this.client();
    try {
      return (await client.callTool({ name, arguments: { text } })).content;
    } finally {
      await client.close();
    }
  }
}

async function details({ id, service }: Registered): Promise<Record<string, unknown>> {
  return (await service.api.call('GET', `/servers/${id}`)).body;
}

/** Refreshes until a growing list has grown. */
async function discoverAgain(registered: readonly Registered[]): Promise<void> {
  for (let round = 0; round < 4; round++) {
    for (const { id, service } of registered) {
      const finishedAt = async (): Promise<unknown> =>
        (await service.api.call('GET', `/servers/${id}/discovery`)).body['finished_at'];
      const before = await finishedAt();
      service.app.app.get(EventBus).publish(new ToolListChanged(id));
      await eventually(async () => {
        const now = await finishedAt();
        expect(now).toEqual(expect.any(String));
        expect(now).not.toBe(before);
      });
    }
  }
}

describe('an aggregator registered at itself', () => {
  let service: Service;
  beforeAll(async () => {
    service = await Service.start();
  });
  afterAll(() => service.app.close());

  it.each(['/mcp', '/mcp/search', '/mcp/servers/own'])('by HTTP at %s is refused', async (path) => {
    const name = `self${path.length}`;
    const self = await service.register(name, service, path);
    await eventually(async () => {
      const { status, error_message: message } = await details(self);
      expect({ status, message }).toEqual({
        status: 'ERROR',
        message: expect.stringContaining('this is the aggregator itself'),
      });
    });
    expect((await service.tools()).filter((tool) => tool.startsWith(name))).toEqual([]);
  });

  it('by its own STDIO bridge is refused', async () => {
    const id = await service.api.register({
      name: 'bridge',
      transport_type: 'STDIO',
      connection_config: {
        command: process.execPath,
        args: [program, 'stdio'],
        env: { SWITCHBOARD_URL: service.app.url, SWITCHBOARD_TOKEN: service.app.token },
      },
    });
    await eventually(async () => {
      expect(await details({ id, name: 'bridge', service })).toMatchObject({
        status: 'ERROR',
        error_message: expect.stringContaining('this is the aggregator itself'),
      });
    });
  });
});

describe('aggregators registered at each other', () => {
  const services: Service[] = [];
  beforeAll(async () => {
    for (let i = 0; i < 3; i++) services.push(await Service.start());
  });
  afterAll(() => Promise.all(services.map(({ app }) => app.close())));

  it.each([2, 3])('in a circle of %i have each tool once', async (length) => {
    const circle = services.slice(0, length);
    const registered: Registered[] = [];
    for (const [i, service] of circle.entries()) {
      const next = circle[(i + 1) % length];
      if (!next) throw new Error('a circle has a next one');
      registered.push(await service.register(`next${length}`, next));
    }
    for (const one of registered) {
      await eventually(async () =>
        expect(await details(one)).toHaveProperty('status', 'CONNECTED'),
      );
    }
    await discoverAgain(registered);
    for (const service of circle) {
      await eventually(async () => {
        const echoes = (await service.tools()).filter((tool) => tool.includes('echo'));
        // Its own tool, and those of every other one in the circle.
        expect(echoes.filter((tool) => tool.includes(`next${length}`))).toHaveLength(length - 1);
      });
    }
    const [first] = registered;
    if (!first) throw new Error('there is one');
    await eventually(async () =>
      expect(JSON.stringify((await details(first))['warnings'])).toContain(
        'it comes from this aggregator itself',
      ),
    );
    expect(await circle[0]?.call(`next${length}__own__echo`, 'hello')).toEqual([
      { type: 'text', text: 'hello' },
    ]);
    for (const { id, service } of registered) await service.api.call('DELETE', `/servers/${id}`);
  });

  it('at the addresses of single servers are refused where the circle closes', async () => {
    const [a, b] = services;
    if (!a || !b) throw new Error('there are two');
    const toB = await a.register('b', b);
    await eventually(async () => expect(await details(toB)).toHaveProperty('status', 'CONNECTED'));
    const toA = await b.register('a', a, '/mcp/servers/b');
    await eventually(async () => {
      expect(await details(toA)).toMatchObject({
        status: 'ERROR',
        error_message: expect.stringContaining('reached through another one'),
      });
    });
  });

  it('refuse a request that has passed through them before', async () => {
    const [a] = services;
    if (!a) throw new Error('there is one');
    const client = await a.client();
    const id = await idOf(a);
    await expect(
      client.callTool({
        name: 'own__echo',
        arguments: { text: 'x' },
        _meta: { 'switchboard/via': ['other', id] },
      }),
    ).rejects.toThrow('has been through this aggregator already');
    await expect(
      client.listTools({ _meta: { 'switchboard/via': ['a', 'b', 'c', 'd', 'e'] } }),
    ).rejects.toThrow('through 5 aggregators');
    await client.close();
  });
});

/** The instance id that a service generates for itself. */
async function idOf({ app }: Service): Promise<string> {
  const answer = await fetch(new URL('/mcp', app.url), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${app.token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 't', version: '1' },
      },
    }),
  });
  const { result } = (await answer.json()) as {
    result: { _meta: { 'switchboard/via': [string] } };
  };
  return result._meta['switchboard/via'][0];
}
