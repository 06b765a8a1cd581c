import { startApp, stopIntervals, type TestApp } from '../support/app.js';
import { Api } from '../support/api.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { everythingOverHttp, type HttpPeer } from '../support/peers.js';

interface Series {
  readonly server: string | null;
  readonly tool: string | null;
  readonly calls: number;
  readonly errors: number;
  readonly p50_ms: number | null;
  readonly points: Readonly<Record<'t' | 'calls' | 'errors' | 'p50' | 'p95' | 'p99', number[]>>;
}

describe('calls over time', () => {
  let service: TestApp;
  let api: Api;
  let server: HttpPeer;
  beforeAll(async () => {
    service = await startApp();
    // What is being stored is in no sum for a moment.
    stopIntervals(service);
    api = new Api(service);
    server = await everythingOverHttp('streamableHttp');
    await api.register({
      name: 'counted',
      transport_type: 'HTTP',
      connection_config: { base_url: server.url },
    });
    await eventually(async () => expect((await call('echo', { message: 'a' })).status).toBe(200));
  });
  afterAll(async () => {
    await service.close();
    await server.stop();
  });

  const call = (tool: string, args: object) =>
    send(service.url, '/api/v1/tools/call', {
      method: 'POST',
      token: service.token,
      body: JSON.stringify({ name: `counted.${tool}`, arguments: args }),
    });
  const series = async (query: string): Promise<readonly Series[]> => {
    const { status, body } = await api.call('GET', `/stats${query}`);
    expect(status).toBe(200);
    return body['series'] as Series[];
  };

  it('are counted in all, by server and by tool, within minutes, a day and a month', async () => {
    await call('echo', { message: 'b' });
    await call('get-sum', { a: 'no', b: 'number' });
    for (const window of ['10m', '24h', '30d']) {
      const [all] = await series(`?window=${window}`);
      expect({ window, ...all }).toMatchObject({ window, server: null, calls: 3, errors: 1 });
      expect(all?.points.calls.reduce((sum, calls) => sum + calls, 0)).toBe(3);
      expect(all?.points.t).toHaveLength(all?.points.p99.length ?? 0);
      const byServer = await series(`?window=${window}&by=server`);
      expect(byServer).toMatchObject([{ server: 'counted', tool: null, calls: 3, errors: 1 }]);
      const byTool = await series(`?window=${window}&by=tool`);
      expect(byTool).toMatchObject([
        { server: 'counted', tool: 'echo', calls: 2, errors: 0 },
        { server: 'counted', tool: 'get-sum', calls: 1, errors: 1 },
      ]);
      const one = await series(`?window=${window}&tool=counted.echo`);
      expect(one).toMatchObject([{ tool: 'echo', calls: 2, p50_ms: expect.any(Number) }]);
    }
  });

  it('of an unknown server are not found', async () => {
    expect((await api.call('GET', '/stats?server=missing')).status).toBe(404);
  });
});
