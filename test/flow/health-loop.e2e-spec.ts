import { createServer, type Server } from 'node:http';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { fixture } from '../support/peers.js';

/** A health URL with configurable responses. */
class HealthUrl {
  status = 200;
  asked = 0;
  private readonly server: Server = createServer((_request, response) => {
    this.asked++;
    response.writeHead(this.status, { location: 'http://127.0.0.1:1/' }).end();
  });

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => {
      this.server.listen(0, '127.0.0.1', resolve);
    });
    const address = this.server.address();
    if (!address || typeof address === 'string') throw new Error('no port');
    return `http://127.0.0.1:${address.port}/health`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

describe('the health loop', () => {
  const healthUrl = new HealthUrl();
  let service: TestApp;
  let api: Api;
  let id: string;

  beforeAll(async () => {
    service = await startApp({ MCP_AGGREGATOR_HEALTH_INTERVAL: '0.1' });
    api = new Api(service);
    id = await api.register({
      name: 'watched',
      transport_type: 'STDIO',
      connection_config: { command: process.execPath, args: [fixture('hostile.mjs'), 'stdio'] },
      health_check_url: await healthUrl.listen(),
    });
    await eventually(async () => expect(await api.status(id)).toBe('CONNECTED'));
  });
  afterAll(async () => {
    await service.close();
    healthUrl.close();
  });

  const health = async (): Promise<Record<string, unknown>> =>
    (await api.call('GET', `/servers/${id}/health`)).body;
  const checks = async (count: number): Promise<void> => {
    const { asked } = healthUrl;
    await eventually(() => expect(healthUrl.asked).toBeGreaterThanOrEqual(asked + count));
  };

  it('reports a healthy server and its latency', async () => {
    await eventually(async () =>
      expect(await health()).toMatchObject({
        status: 'CONNECTED',
        healthy: true,
        consecutive_failures: 0,
        response_time_ms: expect.any(Number) as number,
        last_health_check: expect.any(String) as string,
        last_error: null,
      }),
    );
  });

  it('ignores a misconfigured health URL', async () => {
    healthUrl.status = 404;
    await checks(5);
    await eventually(async () =>
      expect(await health()).toMatchObject({
        status: 'CONNECTED',
        consecutive_failures: 0,
        last_error: 'the health check URL answers 404',
      }),
    );
    expect(await api.history(id)).not.toContain('DEGRADED');
  });

  it.each([500, 302, 204])(
    'degrades at HTTP %i, fails, reconnects, and recovers',
    async (wrong) => {
      healthUrl.status = 200;
      await eventually(async () => expect(await api.status(id)).toBe('CONNECTED'));
      const before = (await api.history(id)).length;
      healthUrl.status = wrong;
      await eventually(async () =>
        expect((await api.history(id)).slice(before, before + 2)).toEqual(['DEGRADED', 'ERROR']),
      );
      healthUrl.status = 200;
      await eventually(async () =>
        expect(await health()).toMatchObject({ status: 'CONNECTED', healthy: true }),
      );
      const { body } = await api.call('GET', `/servers/${id}/history`);
      const failed = {
        code: 'HEALTH_CHECK_FAILED',
        reason: `the health check URL answers ${wrong}`,
      };
      for (const event_type of ['DEGRADED', 'ERROR']) {
        const row = { event_type, details: expect.objectContaining(failed) as object };
        expect(body['events']).toContainEqual(expect.objectContaining(row));
      }
      expect((await health())['last_error']).toBe(`${failed.code}: ${failed.reason}`);
    },
  );

  it('gives the statuses over time, with the reasons, and the latency of the checks', async () => {
    const { status, body } = await api.call('GET', `/servers/${id}/health/history?window=1h`);
    expect(status).toBe(200);
    const intervals = body['intervals'] as Record<string, unknown>[];
    expect(intervals.map(({ state }) => state)).toEqual(
      expect.arrayContaining(['CONNECTED', 'DEGRADED', 'ERROR']),
    );
    expect(intervals.at(-1)).toMatchObject({ state: 'CONNECTED', to: body['to'] });
    expect(body['events']).toContainEqual({
      number: expect.any(Number) as number,
      at: expect.any(String) as string,
      kind: 'failed',
      text: 'the health check URL answers 500',
    });
    expect(body['ready_share']).toBeGreaterThan(0);
    const [point] = body['latency'] as Record<string, unknown>[];
    expect(point).toMatchObject({ p50_ms: expect.any(Number) as number });
    // Checks that failed before the status changed are counted in the interval before.
    expect(intervals).toContainEqual(
      expect.objectContaining({
        state: 'CONNECTED',
        latency: expect.objectContaining({ p50_ms: expect.any(Number) as number }) as object,
      }),
    );
  });

  it.each(['0h', '31d', '1w', 'x', '24'])('refuses the window %s', async (window) => {
    const { status } = await api.call('GET', `/servers/${id}/health/history?window=${window}`);
    expect(status).toBe(422);
  });

  it('has no history of an unknown server', async () => {
    const unknown = '550e8400-e29b-41d4-a716-446655440000';
    expect((await api.call('GET', `/servers/${unknown}/health/history`)).status).toBe(404);
  });

  it('checks over the session without a URL, and detects a server that hangs', async () => {
    const hanging = await api.register({
      name: 'hanging',
      transport_type: 'STDIO',
      connection_config: {
        command: process.execPath,
        args: [fixture('hostile.mjs'), 'stdio', '{"mute":["ping"]}'],
      },
    });
    await eventually(async () => {
      const { body } = await api.call('GET', `/servers/${hanging}/health`);
      expect(body['consecutive_failures']).toBe(1);
      expect(body['last_error']).toContain('did not answer ping within 5 s');
    });
    await eventually(async () => expect(await health()).toMatchObject({ healthy: true }));
    await api.call('DELETE', `/servers/${hanging}`);
  });
});
