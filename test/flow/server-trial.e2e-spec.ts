import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Api, type ApiAnswer } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { GuardedServer } from '../support/guarded-server.js';
import { fixture, type HttpPeer, httpPeer, processesWith } from '../support/peers.js';

const MARK = `SWITCHBOARD_TEST_MARK=trial-${process.pid}-${Date.now()}`;
const [markName = '', markValue = ''] = MARK.split('=');

interface Tested {
  readonly ok: boolean;
  readonly server: Record<string, unknown> | null;
  readonly error: { readonly message: string; readonly next_step: string } | null;
}

describe('testing a configuration before it is saved', () => {
  let service: TestApp;
  let api: Api;
  let peer: HttpPeer;

  const hostile = (options: object = {}, env: Record<string, string> = {}) => ({
    transport_type: 'STDIO',
    connection_config: {
      command: process.execPath,
      args: [fixture('hostile.mjs'), 'stdio', JSON.stringify(options)],
      env: { [markName]: markValue, ...env },
    },
  });
  const test = (body: object): Promise<ApiAnswer> => api.call('POST', '/servers/test', body);
  const tested = async (body: object): Promise<Tested & Record<string, unknown>> => {
    const { status, body: view } = await test(body);
    expect(status).toBe(200);
    return view as unknown as Tested & Record<string, unknown>;
  };
  const isGone = (): Promise<void> => eventually(() => expect(processesWith(MARK)).toEqual([]));

  beforeAll(async () => {
    service = await startApp();
    api = new Api(service);
    peer = await httpPeer('peer-v2.mjs', ['http', 'auto']);
  });
  afterAll(async () => {
    await service.close();
    await peer.stop();
    await isGone();
  });

  it('says what a program offers, saves nothing and leaves no process', async () => {
    const {
      ok,
      server,
      error,
      needs_login: needsLogin,
    } = await tested({
      name: 'tried',
      ...hostile({ offers: true, forks: true }),
    });
    expect({ ok, error, needsLogin }).toEqual({ ok: true, error: null, needsLogin: false });
    expect(server).toMatchObject({
      server_info: { name: 'hostile', version: '1' },
      era: 'legacy',
      protocol_version: expect.stringMatching(/^\d{4}-/) as string,
      instructions_length: 0,
      tools: {
        count: 6,
        items: expect.arrayContaining([expect.objectContaining({ name: 'echo' })]) as unknown,
      },
      prompts: { count: 1 },
      resources: { count: 1 },
      resource_templates: { count: 1 },
      connect_ms: expect.any(Number) as number,
    });
    await isGone();
    expect((await api.call('GET', '/servers')).body['servers']).toEqual([]);
    expect((await api.call('GET', '/audit')).body['entries']).toEqual([]);
  });

  it('says what a URL offers', async () => {
    const connection_config = { base_url: peer.url };
    const { ok, server } = await tested({ transport_type: 'HTTP', connection_config });
    expect(ok).toBe(true);
    expect(server).toMatchObject({ era: 'modern', protocol_version: '2026-07-28' });
  });

  it('ends the program when the client goes away, also one that ignores signals', async () => {
    const client = new AbortController();
    const answer = fetch(`${service.url}/api/v1/aggregator/servers/test`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(hostile({ mute: ['initialize'], stubborn: true })),
      signal: client.signal,
    });
    await eventually(() => expect(processesWith(MARK)).not.toEqual([]));
    client.abort();
    await expect(answer).rejects.toThrow();
    await isGone();
  });

  it('tests at most two at once', async () => {
    const asked = new Set<string>();
    const silent = createServer(({ url = '' }) => asked.add(url)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const clients = ['/one', '/two'].map((path) => {
      const client = new AbortController();
      const connection_config = { base_url: `http://127.0.0.1:${port}${path}` };
      const ask = () =>
        fetch(`${service.url}/api/v1/aggregator/servers/test`, {
          method: 'POST',
          headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ transport_type: 'HTTP', connection_config }),
          signal: client.signal,
        });
      // The place of a test that was given up before is free shortly after its program is gone.
      const untilTaken = async (): Promise<void> => {
        while ((await ask()).status === 503);
      };
      const answer = untilTaken().catch(() => undefined);
      return { client, answer };
    });
    try {
      await eventually(() => expect([...asked].toSorted()).toEqual(['/one', '/two']));
      expect(await test(hostile())).toMatchObject({
        status: 503,
        body: { error_code: 'OVERLOADED' },
      });
    } finally {
      for (const { client } of clients) client.abort();
      await Promise.all(clients.map(({ answer }) => answer));
      silent.closeAllConnections();
      silent.close();
    }
    await eventually(async () => expect((await test(hostile())).status).toBe(200));
  });

  it('says why a program does not start, and what to do', async () => {
    const missing = await tested({
      transport_type: 'STDIO',
      connection_config: { command: 'no-such-program-anywhere' },
    });
    expect(missing.ok).toBe(false);
    expect(missing.error).toMatchObject({
      error_code: 'SERVER_CONNECTION_FAILED',
      message: expect.stringContaining('no-such-program-anywhere') as string,
      next_step: expect.stringContaining('command') as string,
    });
    const crashing = await tested({
      transport_type: 'STDIO',
      connection_config: {
        command: process.execPath,
        args: ['-e', 'console.error("no key", process.env.KEY); process.exit(3)'],
        env: { KEY: 'the-secret-key' },
      },
    });
    expect(crashing.ok).toBe(false);
    expect(crashing['log']).toContain('no key ********');
    expect(JSON.stringify(crashing)).not.toContain('the-secret-key');
  });

  it.each([
    ['${NOT_SET_ANYWHERE}', 'NOT_SET_ANYWHERE'],
    ['http://127.0.0.1:1/mcp', 'ECONNREFUSED'],
  ])('says why the URL %s cannot be used', async (base_url, reason) => {
    const { ok, error } = await tested({ transport_type: 'HTTP', connection_config: { base_url } });
    expect(ok).toBe(false);
    expect(error?.message).toContain(reason);
    expect(error?.next_step).not.toBe('');
  });

  it.each([
    [{ transport_type: 'HTTP', connection_config: { base_url: 'https://169.254.169.254/' } }],
    [{ transport_type: 'HTTP', connection_config: { base_url: 'http://a.example/mcp' } }],
    [{ transport_type: 'HTTP', connection_config: {} }],
    [{ transport_type: 'STDIO' }],
    [{ connection_config: { command: 'node' } }],
    [{ name: 'A', transport_type: 'STDIO', connection_config: { command: 'node' } }],
    [{ server_id: 'x' }],
    [{ surprise: true }],
  ])('refuses what registering would refuse (%#)', async (body) => {
    expect(await test(body)).toMatchObject({
      status: 422,
      body: { error_code: 'VALIDATION_ERROR' },
    });
  });

  it('tests an entry of a paste, with the values that it misses', async () => {
    const { command, args } = hostile().connection_config;
    const pasted = {
      text: JSON.stringify({
        mcpServers: { Tried: { command, args, env: { A: '${UNSET_HERE}' } } },
      }),
      key: 'Tried',
    };
    expect((await tested({ pasted })).error?.message).toContain('UNSET_HERE');
    expect(await tested({ pasted: { ...pasted, values: { UNSET_HERE: 'x' } } })).toMatchObject({
      ok: true,
    });
    expect((await test({ pasted: { ...pasted, key: 'other' } })).status).toBe(422);
    expect((await test({ pasted, name: 'tried' })).status).toBe(422);
    expect((await test({ pasted: { text: 7, key: 'a' } })).status).toBe(422);
    expect((await test({ pasted: { ...pasted, text: '{' } })).status).toBe(400);
  });

  it('is for admins', async () => {
    const reader = new Api({ url: service.url, token: service.tokens.call });
    expect((await reader.call('POST', '/servers/test', hostile())).status).toBe(403);
  });

  it('tests a change of a registered server with its stored secrets', async () => {
    const config = hostile().connection_config;
    const id = await api.register({
      name: 'stored',
      transport_type: 'STDIO',
      connection_config: { ...config, env: { TOKEN: 'the-secret-token' } },
      auto_connect: false,
    });
    const history = await api.history(id);
    expect(await tested({ server_id: id })).toMatchObject({ ok: true });
    const masked = { ...config, env: { TOKEN: '********' } };
    expect(await tested({ server_id: id, connection_config: masked })).toMatchObject({ ok: true });
    const moved = { ...masked, args: ['-e', 'console.error(process.env.TOKEN)'] };
    expect((await test({ server_id: id, connection_config: moved })).status).toBe(422);
    const other = { server_id: id, transport_type: 'HTTP' };
    expect((await test(other)).status).toBe(422);
    const unknown = '550e8400-e29b-41d4-a716-446655440000';
    expect((await test({ server_id: unknown })).status).toBe(404);
    expect(await api.history(id)).toEqual(history);
    expect(await api.status(id)).toBe('DISCONNECTED');
  });

  it('says where a person has to log in, without registering there', async () => {
    const guarded = await GuardedServer.before(peer);
    try {
      const body = {
        name: 'guarded',
        transport_type: 'HTTP',
        connection_config: { base_url: guarded.url },
      };
      const { ok, error, ...rest } = await tested(body);
      expect(ok).toBe(false);
      expect(rest).toMatchObject({ needs_login: true, login_issuer: guarded.origin });
      expect(error?.next_step).toContain('switchboard authorize guarded');
      expect(guarded.seen.filter((request) => /register|token/.test(request))).toEqual([]);
    } finally {
      guarded.stop();
    }
  });
});
