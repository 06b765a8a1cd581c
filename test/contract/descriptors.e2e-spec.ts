import { resolve } from 'node:path';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { type ServiceProcess, startProcess } from '../support/service-process.js';

/** More servers than 256 descriptors suffice for. */
const SERVERS = 80;
const FEW = ['sh', '-c', 'ulimit -n 256; exec "$0" "$@"'];

interface Listed {
  readonly name: string;
  readonly status: string;
  readonly tool_count: number;
  readonly error_message: string | null;
}

describe('the service with 256 file descriptors', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: ServiceProcess;

  beforeAll(async () => {
    folder = await temporaryFolder();
    const settings = { MCP_AGGREGATOR_MAX_SERVERS: '100' };
    service = await startProcess(folder.path, settings, [], FEW);
  });
  afterAll(async () => {
    service.child.kill('SIGKILL');
    await service.exited;
    await folder.remove();
  });

  const post = (path: string, body: object): Promise<{ status: number; body: unknown }> =>
    send(service.url, `/api/v1/${path}`, {
      method: 'POST',
      token: service.token,
      body: JSON.stringify(body),
    });
  const list = async (): Promise<readonly Listed[]> => {
    const { token } = service;
    const { body } = await send(service.url, '/api/v1/aggregator/servers?limit=500', { token });
    return (body as { servers: Listed[] }).servers;
  };
  const call = (server: string): Promise<{ status: number; body: unknown }> =>
    post('tools/call', { name: `${server}.echo`, arguments: {} });

  it('warns at start about the low limit, and says what to do', () => {
    expect(service.output()).toContain('only 256 file descriptors are allowed');
    expect(service.output()).toContain('ulimit -n');
  });

  it('starts as many servers as it can, reports why it cannot start the others, and keeps serving', async () => {
    const command = { command: 'bash', args: [resolve('test/fixtures/small.sh')] };
    for (let i = 0; i < SERVERS; i++) {
      const server = { name: `s${i}`, transport_type: 'STDIO', connection_config: command };
      expect((await post('aggregator/servers', server)).status).toBe(201);
    }
    const { working, refused } = await eventually(async () => {
      const servers = await list();
      const found = {
        working: servers.filter((server) => server.tool_count > 0),
        refused: servers.filter((server) => server.status === 'ERROR'),
      };
      expect(found.working.length + found.refused.length).toBe(SERVERS);
      for (const { error_message } of found.refused) {
        expect(error_message).toContain('file descriptors');
      }
      return found;
    });
    expect(working.length).toBeGreaterThan(10);
    expect(refused.length).toBeGreaterThan(10);

    // Concurrently, each on its own connection.
    const answers = await Promise.all(working.slice(0, 30).map(({ name }) => call(name)));
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(body).toMatchObject({ content: [{ text: 'here' }] });
    }
    service.child.kill('SIGTERM');
    expect(await service.exited).toBe(0);
  });
});
