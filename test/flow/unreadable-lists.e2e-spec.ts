import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { fixture, type HttpPeer, httpPeer } from '../support/peers.js';
import { createDatabase } from '../support/postgres.js';

const TOKEN = 'a-token-that-no-message-may-show';
const ISSUE = '5 servers connected whose tools, prompts or resources could not be listed';

interface View {
  readonly status: string;
  readonly tool_count: number;
  readonly error_message: string | null;
  readonly warnings: readonly string[];
}

describe.each([
  ['PostgreSQL', true],
  ['PGlite', false],
])('servers whose lists cannot be read, on %s', (_, isShared) => {
  const peers: HttpPeer[] = [];
  const ids = new Map<string, string>();
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let broken: string;
  let replicas: TestApp[];

  beforeAll(async () => {
    folder = await temporaryFolder();
    broken = join(folder.path, 'broken');
    writeFileSync(broken, '');
    const settings = {
      DATABASE_URL: isShared ? await createDatabase() : '',
      MCP_AGGREGATOR_ALLOW_INSECURE_HTTP: 'true',
      MCP_AGGREGATOR_HEALTH_INTERVAL: '1',
    };
    replicas = [await startApp(settings)];
    if (isShared) replicas.push(await startApp(settings));
    const api = new Api(leader());
    for (const [name, server] of Object.entries(await servers())) {
      ids.set(name, await api.register({ name, ...server }));
    }
  });
  afterAll(async () => {
    for (const replica of replicas.toReversed()) await replica.close();
    for (const peer of peers) await peer.stop();
    await folder.remove();
  });

  const leader = (): TestApp => {
    const [first] = replicas;
    if (!first) throw new Error('no service runs');
    return first;
  };
  const optionsOf = (era?: 'modern'): string =>
    JSON.stringify({ offers: true, refusesWhile: broken, ...(era && { era }) });

  /** One server per transport and protocol era. */
  async function servers(): Promise<Record<string, object>> {
    const over = async (kind: 'http' | 'sse', era?: 'modern'): Promise<string> => {
      const peer = await httpPeer('hostile.mjs', [kind, optionsOf(era)]);
      peers.push(peer);
      return peer.url;
    };
    const stdio = (era?: 'modern'): object => ({
      transport_type: 'STDIO',
      connection_config: {
        command: process.execPath,
        args: [fixture('hostile.mjs'), 'stdio', optionsOf(era)],
        env: { TOKEN },
      },
    });
    const http = async (era?: 'modern'): Promise<object> => ({
      transport_type: 'HTTP',
      connection_config: { base_url: await over('http', era) },
    });
    return {
      'stdio-legacy': stdio(),
      'stdio-modern': stdio('modern'),
      'http-legacy': await http(),
      'http-modern': await http('modern'),
      sse: { transport_type: 'SSE', connection_config: { url: await over('sse') } },
    };
  }

  async function views(service: TestApp): Promise<View[]> {
    const { body } = await new Api(service).call('GET', '/servers');
    return body['servers'] as View[];
  }

  async function excluded(service: TestApp): Promise<unknown> {
    const { body } = await send(service.url, '/api/v1/search', {
      method: 'POST',
      token: service.token,
      body: JSON.stringify({ query: 'echo' }),
    });
    return (body as { metadata: { excluded_servers: unknown } }).metadata.excluded_servers;
  }

  const issues = async (service: TestApp): Promise<unknown> =>
    ((await send(service.url, '/health')).body as { issues?: string[] }).issues;

  async function expectToldEverywhere(): Promise<void> {
    for (const replica of replicas) {
      const shown = await views(replica);
      expect(shown).toHaveLength(ids.size);
      for (const { status, error_message, warnings } of shown) {
        expect(status).toBe('CONNECTED');
        for (const list of ['tools', 'prompts', 'resources']) {
          const problem = `Its ${list} could not be listed: `;
          expect(error_message).toContain(problem);
          expect(warnings).toContainEqual(expect.stringContaining(problem));
        }
        expect(error_message).toContain('no list today');
      }
      expect(JSON.stringify(shown)).not.toContain(TOKEN);
      expect(await issues(replica)).toContain(ISSUE);
      expect(await excluded(replica)).toEqual(
        [...ids.keys()].toSorted().map((name) => ({
          name,
          status: 'CONNECTED',
          tool_count: 0,
          reason: expect.stringContaining('Its tools could not be listed: '),
        })),
      );
    }
  }

  it('are connected, and every replica reports the problem', async () => {
    await eventually(expectToldEverywhere);
    expect(existsSync(broken)).toBe(true);
  });

  it('a connect with a wait time returns the problem', async () => {
    const path = `/servers/${ids.get('http-legacy')}/connect?wait_seconds=1`;
    const { status, body } = await new Api(leader()).call('POST', path);
    expect([status, body['status']]).toEqual([200, 'CONNECTED']);
    expect(body['message']).toContain('Its tools could not be listed');
  });

  if (isShared) {
    it('are still reported as a problem after a failover', async () => {
      await replicas.shift()?.close();
      await eventually(expectToldEverywhere);
    });
  }

  it('are discovered in the background once their lists can be read', async () => {
    rmSync(broken);
    await eventually(async () => {
      for (const replica of replicas) {
        for (const shown of await views(replica)) {
          expect(shown).toMatchObject({ status: 'CONNECTED', tool_count: 6, error_message: null });
          expect(shown.warnings.join()).not.toContain('could not be listed');
        }
        expect(await issues(replica)).toBeUndefined();
        expect(await excluded(replica)).toEqual([]);
      }
    });
  });
});
