import { startApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { npmServer } from '../support/servers.js';

/** The monitoring contract by name, with the labels of its examples. */
const contract: Readonly<Record<string, { type: string; labels: string[] }>> = {
  mcp_aggregator_servers_total: { type: 'gauge', labels: ['status'] },
  mcp_aggregator_tools_total: { type: 'gauge', labels: [] },
  mcp_aggregator_tools_classified: { type: 'gauge', labels: [] },
  mcp_aggregator_routing_duration_seconds: { type: 'histogram', labels: [] },
  mcp_aggregator_execution_duration_seconds: { type: 'histogram', labels: ['server'] },
  mcp_aggregator_health_check_duration_seconds: { type: 'gauge', labels: ['server'] },
  mcp_aggregator_health_check_failures_total: { type: 'counter', labels: ['server'] },
};

describe('/metrics', () => {
  it('has every metric of the monitoring contract, and counts what happens', async () => {
    const service = await startApp();
    const read = async (): Promise<string> =>
      (await send(service.url, '/metrics', { token: service.tokens.read })).text;
    const post = (path: string, body: object): Promise<unknown> =>
      send(service.url, path, { method: 'POST', token: service.token, body: JSON.stringify(body) });
    try {
      const empty = await read();
      for (const [name, { type }] of Object.entries(contract)) {
        expect(empty).toContain(`# TYPE ${name} ${type}`);
      }
      await post('/api/v1/aggregator/servers', {
        name: 'everything',
        transport_type: 'STDIO',
        connection_config: npmServer('everything', 'stdio'),
      });
      await eventually(async () => {
        const text = await read();
        expect(text).toContain('mcp_aggregator_servers_total{status="connected"} 1');
        expect(text).toMatch(/^mcp_aggregator_tools_total [1-9]/m);
      });
      await post('/api/v1/tools/call', { name: 'everything.echo', arguments: { message: 'x' } });
      const text = await read();
      // In which of them the call is counted depends on the machine.
      expect(text).toMatch(/^mcp_aggregator_routing_duration_seconds_bucket\{le="0\.05"\} [01]$/m);
      expect(text).toMatch(/^mcp_aggregator_routing_duration_seconds_bucket\{le="0\.1"\} [01]$/m);
      expect(text).toMatch(/^mcp_aggregator_routing_duration_seconds_bucket\{le="\+Inf"\} 1$/m);
      expect(text).toMatch(
        /^mcp_aggregator_execution_duration_seconds_bucket\{.*server="everything".*\} 1$/m,
      );
    } finally {
      await service.close();
    }
  });
});
