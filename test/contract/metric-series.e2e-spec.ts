import { createServer, type Server } from 'node:http';
import { Registry } from 'prom-client';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { fixture } from '../support/peers.js';
import { createDatabase } from '../support/postgres.js';

/** Names and labels are an interface: dashboards and alerts depend on them. */
const published: Readonly<Record<string, string>> = {
  mcp_aggregator_audit_entries_lost_total: '',
  mcp_aggregator_client_limits_total: 'limit',
  mcp_aggregator_database_up: '',
  mcp_aggregator_event_failures_total: 'event',
  mcp_aggregator_execution_duration_seconds: 'server',
  mcp_aggregator_health_check_consecutive_failures: 'server',
  mcp_aggregator_health_check_duration_seconds: 'server',
  mcp_aggregator_health_check_failures_total: 'server',
  mcp_aggregator_info: 'service,version',
  mcp_aggregator_queried_servers_total: 'server,status',
  mcp_aggregator_query_duration_seconds: '',
  mcp_aggregator_query_plans_total: 'outcome',
  mcp_aggregator_results_shortened_total: 'whole',
  mcp_aggregator_routing_duration_seconds: '',
  mcp_aggregator_servers_total: 'status',
  mcp_aggregator_servers_wanted: '',
  mcp_aggregator_spans_total: 'outcome',
  mcp_aggregator_tools_classified: '',
  mcp_aggregator_tools_total: '',
  mcp_aggregator_tools_withheld: '',
  mcp_aggregator_unsent_bytes: '',
};
const OF_A_SERVER = [
  'mcp_aggregator_execution_duration_seconds',
  'mcp_aggregator_health_check_consecutive_failures',
  'mcp_aggregator_health_check_duration_seconds',
  'mcp_aggregator_health_check_failures_total',
  'mcp_aggregator_queried_servers_total',
];

/** Health URLs of servers, by path; those in `sick` return 500. */
class HealthUrls {
  readonly sick = new Set<string>();
  private readonly server: Server = createServer(({ url = '' }, response) => {
    response.writeHead(this.sick.has(url.slice(1)) ? 500 : 200).end();
  });

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    const address = this.server.address();
    if (!address || typeof address === 'string') throw new Error('no port');
    return `http://127.0.0.1:${address.port}`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

describe('metrics with a label `server`', () => {
  const healthUrls = new HealthUrls();
  let health: string;
  let service: TestApp;
  let replica: TestApp;
  let api: Api;
  beforeAll(async () => {
    health = await healthUrls.listen();
    const DATABASE_URL = await createDatabase();
    const settings = { DATABASE_URL, MCP_AGGREGATOR_HEALTH_INTERVAL: '0.2' };
    service = await startApp(settings);
    replica = await startApp(settings);
    api = new Api(service);
  });
  afterAll(async () => {
    await replica.close();
    await service.close();
    healthUrls.close();
  });

  const read = async ({ url, tokens }: TestApp = service): Promise<string> =>
    (await send(url, '/metrics', { token: tokens.read })).text;
  const metricsOf = (text: string, server: string): string[] => {
    const lines = text.split('\n').filter((line) => line.includes(`server="${server}"`));
    const names = lines.map((line) => line.replace(/(?:_bucket|_sum|_count)?\{.*/, ''));
    return [...new Set(names)].toSorted();
  };
  const value = (text: string, series: string): number | undefined => {
    const line = text.split('\n').find((one) => one.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length + 1));
  };
  const post = (path: string, body: object, { url, token } = service) =>
    send(url, path, { method: 'POST', token, body: JSON.stringify(body) });
  const callTool = async (server: string, on = service): Promise<void> => {
    await eventually(async () => {
      const body = { name: `${server}.echo`, arguments: { text: 'x' } };
      expect((await post('/api/v1/tools/call', body, on)).status).toBe(200);
    });
  };

  async function register(name: string): Promise<string> {
    const id = await api.register({
      name,
      transport_type: 'STDIO',
      connection_config: { command: process.execPath, args: [fixture('hostile.mjs'), 'stdio'] },
      health_check_url: `${health}/${name}`,
    });
    await eventually(async () => expect(await api.status(id)).toBe('CONNECTED'));
    return id;
  }
  /** A server with a series in every metric that has the label. */
  async function busyServer(name: string): Promise<string> {
    const id = await register(name);
    await callTool(name);
    await eventually(async () =>
      expect(metricsOf(await read(), name)).toContain(
        'mcp_aggregator_health_check_duration_seconds',
      ),
    );
    healthUrls.sick.add(name);
    await eventually(async () =>
      expect(metricsOf(await read(), name)).toContain('mcp_aggregator_health_check_failures_total'),
    );
    healthUrls.sick.delete(name);
    await post('/api/v1/aggregator/query', { query: 'echo', servers: [name] });
    expect(metricsOf(await read(), name)).toEqual(OF_A_SERVER);
    return id;
  }

  it('are documented, as are all others', () => {
    const metrics = service.app.get(Registry).getMetricsAsArray();
    const labelled = metrics
      .filter(({ name }) => name.startsWith('mcp_aggregator_'))
      .map((metric) => [metric.name, String(Reflect.get(metric, 'labelNames'))] as const);
    expect(Object.fromEntries(labelled)).toEqual(published);
  });

  it('lose the series of a removed server and keep those of others', async () => {
    const gone = await busyServer('gone');
    await busyServer('kept');
    await api.call('DELETE', `/servers/${gone}`);
    await eventually(async () => {
      const text = await read();
      expect(metricsOf(text, 'gone')).toEqual([]);
      expect(metricsOf(text, 'kept')).toEqual(OF_A_SERVER);
    });
  });

  it('start again at zero for a new server of the same name', async () => {
    const first = await register('again');
    await callTool('again');
    await callTool('again');
    await api.call('DELETE', `/servers/${first}`);
    await register('again');
    await callTool('again');
    const count = 'mcp_aggregator_execution_duration_seconds_count{server="again"}';
    expect(value(await read(), count)).toBe(1);
  });

  it('lose the series of the old name of a renamed server', async () => {
    const id = await busyServer('before');
    await api.call('PATCH', `/servers/${id}`, { name: 'after' });
    await callTool('after');
    // A health check that began before may end after the change.
    await eventually(async () => {
      const text = await read();
      expect(metricsOf(text, 'before')).toEqual([]);
      expect(metricsOf(text, 'after')).toContain('mcp_aggregator_execution_duration_seconds');
    });
  });

  it('follow a removal by another replica at the next scrape, and count for their own process', async () => {
    const id = await register('elsewhere');
    await callTool('elsewhere', replica);
    const called = 'mcp_aggregator_execution_duration_seconds';
    expect(metricsOf(await read(replica), 'elsewhere')).toContain(called);
    expect(metricsOf(await read(service), 'elsewhere')).not.toContain(called);
    await api.call('DELETE', `/servers/${id}`);
    expect(metricsOf(await read(replica), 'elsewhere')).toEqual([]);
  });

  it('count failures in a row only of servers that should be connected', async () => {
    const id = await register('unwell');
    const failures = 'mcp_aggregator_health_check_consecutive_failures{server="unwell"}';
    const wanted = value(await read(), 'mcp_aggregator_servers_wanted') ?? 0;
    expect(value(await read(), failures)).toBe(0);
    healthUrls.sick.add('unwell');
    await eventually(async () => expect(value(await read(), failures)).toBeGreaterThanOrEqual(1));
    await api.call('POST', `/servers/${id}/disconnect`);
    const text = await read();
    expect(value(text, failures)).toBeUndefined();
    expect(value(text, 'mcp_aggregator_servers_wanted')).toBe(wanted - 1);
  });
});
