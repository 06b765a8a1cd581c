import { CommandBus } from '@nestjs/cqrs';
import { ToolListChanged } from '@app/events';
import { Signals } from '@app/platform';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DiscoverTools } from '../../libs/discovery/src/discover-tools.command.js';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { ListingServer } from '../support/listing-server.js';
import { createDatabase } from '../support/postgres.js';

describe.each([
  ['PostgreSQL', true],
  ['PGlite', false],
])('the discovery of a DEGRADED server on %s', (_, isShared) => {
  const upstream = new ListingServer();
  /** Status of the next health checks; the last one stays. A 404 counts neither way. */
  let health = [200];
  const checked = createServer((_request, response) => {
    const next = health.length > 1 ? health.shift() : health[0];
    response.writeHead(next ?? 200).end();
  });
  let replicas: TestApp[];
  let id: string;

  beforeAll(async () => {
    await upstream.start();
    await new Promise<void>((resolve) => checked.listen(0, '127.0.0.1', resolve));
    const settings = {
      DATABASE_URL: isShared ? await createDatabase() : '',
      MCP_AGGREGATOR_ALLOW_INSECURE_HTTP: 'true',
      MCP_AGGREGATOR_HEALTH_INTERVAL: '0.3',
    };
    replicas = [await startApp(settings)];
    if (isShared) replicas.push(await startApp(settings));
    upstream.tools.set('shed', ['rake']);
    upstream.prompts.set('shed', ['tidy']);
    id = await api().register({
      name: 'shed',
      transport_type: 'HTTP',
      connection_config: { base_url: upstream.url('shed') },
      health_check_url: `http://127.0.0.1:${(checked.address() as AddressInfo).port}/`,
    });
    await eventually(async () => {
      expect(await names()).toEqual(['rake']);
      expect(lists()).toEqual(expect.arrayContaining(['shed tools/list', 'shed prompts/list']));
    });
  });
  afterAll(async () => {
    for (const replica of replicas.toReversed()) await replica.close();
    await upstream.stop();
    checked.closeAllConnections();
    await new Promise((resolve) => checked.close(resolve));
  });

  const app = (): TestApp => {
    const [first] = replicas;
    if (!first) throw new Error('no service runs');
    return first;
  };
  const api = (): Api => new Api(app());
  const names = async (): Promise<string[]> => {
    const { body } = await api().call('GET', `/servers/${id}/tools`);
    return (body['tools'] as { original_name: string }[]).map((tool) => tool.original_name);
  };
  const lists = (): string[] => upstream.requests.filter((request) => request.endsWith('/list'));
  const refresh = (replica: TestApp) =>
    new Api(replica).call('POST', `/servers/${id}/tools/refresh`);

  it('is deferred, whatever requests it', async () => {
    health = [500, 500, 404];
    await eventually(async () => {
      for (const replica of replicas) expect(await new Api(replica).status(id)).toBe('DEGRADED');
    });
    await eventually(() => expect(health).toEqual([404]));
    upstream.tools.set('shed', ['rake', 'spade']);
    const before = lists().length;
    for (const replica of replicas) {
      expect(await refresh(replica)).toEqual({
        status: 202,
        body: {
          server_id: id,
          status: 'DEFERRED',
          message: 'The server is degraded; its tools are discovered when it has recovered',
        },
      });
    }
    const commands = app().app.get(CommandBus);
    await app().app.get(Signals, { strict: false }).tell(new ToolListChanged(id));
    await commands.execute(new DiscoverTools(id));
    expect(lists().slice(before)).toEqual([]);
    expect(await names()).toEqual(['rake']);
  });

  it('runs once the server has recovered', async () => {
    health = [200];
    await eventually(async () => {
      for (const replica of replicas) expect(await new Api(replica).status(id)).toBe('CONNECTED');
      expect(await names()).toEqual(['rake', 'spade']);
    });
  });

  it('is forwarded to the leading replica', async () => {
    upstream.tools.set('shed', ['hoe']);
    expect((await refresh(replicas.at(-1) ?? app())).body).toMatchObject({ status: 'REFRESHING' });
    await eventually(async () => expect(await names()).toEqual(['hoe']));
  });
});
