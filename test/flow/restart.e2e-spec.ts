import { Api } from '../support/api.js';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { fixture, processesWith } from '../support/peers.js';
import { type ServiceProcess, startProcess } from '../support/service-process.js';

const SERVERS = 10;
const MARK = `SWITCHBOARD_TEST_MARK=restart-${process.pid}-${Date.now()}`;
const [markName = '', markValue = ''] = MARK.split('=');

describe('a service that is killed with -9', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: ServiceProcess | undefined;
  let registered: string;

  beforeAll(async () => {
    folder = await temporaryFolder();
  });
  afterAll(async () => {
    service?.child.kill('SIGKILL');
    await folder.remove();
  });

  const start = async (): Promise<Api> => {
    service = await startProcess(folder.path, { MCP_AGGREGATOR_LOG_LEVEL: 'error' });
    return new Api(service);
  };
  const allConnected = (api: Api): Promise<void> =>
    eventually(async () => {
      const statuses = Object.values(await api.statuses());
      expect(statuses).toHaveLength(SERVERS + 1);
      expect(statuses.filter((status) => status === 'CONNECTED')).toHaveLength(SERVERS);
    });

  it('leaves no process, and reconnects every wanted server without a request', async () => {
    const api = await start();
    for (let i = 0; i < SERVERS; i++) {
      registered = await api.register({
        name: `server-${i}`,
        transport_type: 'STDIO',
        connection_config: {
          // Through a shell that keeps running, with a grandchild and a daemon beside the server.
          command: 'sh',
          args: [
            '-c',
            `"${process.execPath}" "$0" stdio '{"forks":true}'; true`,
            fixture('hostile.mjs'),
          ],
          env: { [markName]: markValue },
        },
      });
    }
    await api.register({
      name: 'unwanted',
      transport_type: 'STDIO',
      connection_config: { command: 'false' },
      auto_connect: false,
    });
    await allConnected(api);
    // Each server starts its descendants in the background.
    await eventually(() => expect(processesWith(MARK).length).toBeGreaterThanOrEqual(SERVERS * 4));

    service?.child.kill('SIGKILL');
    await service?.exited;
    await eventually(() => expect(processesWith(MARK)).toEqual([]));

    await allConnected(await start());

    service?.child.kill('SIGTERM');
    await service?.exited;
    await eventually(() => expect(processesWith(MARK)).toEqual([]));
  });

  it('says in the history of a server that the service stopped', async () => {
    const api = await start();
    // Until it is connected again, the row is that of the process that was killed.
    await eventually(async () => {
      const events = await api.history(registered);
      expect(events).toContain('DISCONNECTED');
      expect(events.at(-1)).toBe('CONNECTED');
    });
    service?.child.kill('SIGTERM');
    await service?.exited;
    const { body } = await (await start()).call('GET', `/servers/${registered}/history`);
    expect(body['events']).toContainEqual(
      expect.objectContaining({
        event_type: 'DISCONNECTED',
        details: { from: 'CONNECTED', reason: 'the service stopped' },
      }),
    );
  });
});
