import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { type ServiceProcess, startProcess } from '../support/service-process.js';

/** Reports its working directory as an error, and exits. */
const SCRIPT = 'console.error("Error: started in " + process.cwd()); process.exit(1)';
const SERVERS = '/api/v1/aggregator/servers';

describe('a program that is a server', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: ServiceProcess;
  beforeAll(async () => {
    folder = await temporaryFolder();
    mkdirSync(join(folder.path, 'own'));
    mkdirSync(join(folder.path, 'data/servers/of-a-former-life'), { recursive: true });
    service = await startProcess(join(folder.path, 'data'), { HOME_OF_SERVERS: folder.path });
  });
  afterAll(async () => {
    service.child.kill('SIGTERM');
    await service.exited;
    await folder.remove();
  });

  const api = (method: string, path: string, body?: object) =>
    send(service.url, SERVERS + path, {
      method,
      token: service.token,
      ...(body && { body: JSON.stringify(body) }),
    });
  const register = async (name: string, cwd?: string): Promise<string> => {
    const connection_config = { command: process.execPath, args: ['-e', SCRIPT], cwd };
    const body = { name, transport_type: 'STDIO', connection_config };
    const answer = await api('POST', '', body);
    expect(answer.status).toBe(201);
    return (answer.body as { id: string }).id;
  };
  const hasSaid = (id: string, text: string): Promise<void> =>
    eventually(async () => {
      const { body } = await api('GET', `/${id}`);
      expect((body as { error_message: string }).error_message).toContain(text);
    });

  it('is started in a folder of its own, which is removed with it', async () => {
    const id = await register('homeless');
    const own = join(realpathSync(folder.path), 'data/servers', id);
    await hasSaid(id, `its last words: Error: started in ${own}`);
    expect(existsSync(own)).toBe(true);
    expect((await api('DELETE', `/${id}`)).status).toBe(204);
    await eventually(() => expect(existsSync(own)).toBe(false));
  });

  it('is started in the configured folder', async () => {
    const own = join(folder.path, 'own');
    const id = await register('settled', '${HOME_OF_SERVERS}/own');
    await hasSaid(id, `Error: started in ${realpathSync(own)}`);
    expect((await api('GET', `/${id}`)).body).toMatchObject({
      connection_config: { cwd: '${HOME_OF_SERVERS}/own' },
    });
    expect((await api('DELETE', `/${id}`)).status).toBe(204);
    expect(existsSync(own)).toBe(true);
  });

  it('is refused with the name of a missing folder', async () => {
    const missing = join(folder.path, 'missing');
    const id = await register('lost', missing);
    await hasSaid(id, `cannot start: its working folder ${missing} does not exist`);
  });

  it('leaves no folder behind when the service was killed before it could be removed', async () => {
    const left = join(folder.path, 'data/servers/of-a-former-life');
    await eventually(() => expect(existsSync(left)).toBe(false));
  });

  it('is refused with a folder that is not absolute', async () => {
    const connection_config = { command: 'x', cwd: 'here' };
    const body = { name: 'relative', transport_type: 'STDIO', connection_config };
    expect(await api('POST', '', body)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'connection_config', 'cwd'] }] },
    });
  });
});
