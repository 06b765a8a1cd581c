import { temporaryFolder } from '../support/env.js';
import { send } from '../support/http.js';
import { startProcess } from '../support/service-process.js';

/** `npm run faults -- T13` has more, on both databases. */
const ROUNDS = 8;
const SERVERS_PATH = '/api/v1/aggregator/servers';

interface Listed {
  readonly id: string;
  readonly name: string;
  readonly status: string;
}

describe('kill -9 during a burst of registrations', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeAll(async () => {
    folder = await temporaryFolder();
  });
  afterAll(() => folder.remove());

  it('loses no acknowledged registration, and leaves no partial one', async () => {
    const acknowledged = new Set<string>();
    for (let round = 0; round < ROUNDS; round++) {
      const service = await startProcess(folder.path, {
        MCP_AGGREGATOR_MAX_SERVERS: '10000',
        MCP_AGGREGATOR_LOG_LEVEL: 'fatal',
      });
      const request = (path: string, body?: object): Promise<{ status: number; body: unknown }> =>
        send(service.url, path, {
          method: body ? 'POST' : 'GET',
          token: service.token,
          ...(body && { body: JSON.stringify(body) }),
        });

      const listed = await listAll(request);
      const names = new Set(listed.map((server) => server.name));
      expect([...acknowledged].filter((name) => !names.has(name))).toEqual([]);
      const newest = listed.at(-1);
      if (newest) {
        // Its configuration decrypts, and its history is stored.
        expect((await request(`${SERVERS_PATH}/${newest.id}`)).status).toBe(200);
        const history = await request(`${SERVERS_PATH}/${newest.id}/history`);
        expect(history.body).toMatchObject({ events: [{ event_type: 'REGISTERED' }], total: 1 });
      }

      const killAfter = 1 + ((round * 7) % 40);
      let answered = 0;
      const burst = Array.from({ length: 60 }, async (_, i) => {
        const name = `round-${round}-server-${i}`;
        const answer = await request(SERVERS_PATH, {
          name,
          transport_type: 'HTTP',
          connection_config: { base_url: 'https://a.example/mcp' },
          auto_connect: false,
        });
        if (answer.status === 201) acknowledged.add(name);
        if (++answered === killAfter) service.child.kill('SIGKILL');
      });
      await Promise.allSettled(burst);
      await service.exited;
    }
    expect(acknowledged.size).toBeGreaterThan(ROUNDS);
  });
});

async function listAll(request: (path: string) => Promise<{ body: unknown }>): Promise<Listed[]> {
  const all: Listed[] = [];
  for (;;) {
    const { body } = await request(`${SERVERS_PATH}?limit=500&offset=${all.length}`);
    const page = body as { servers: Listed[]; total: number };
    all.push(...page.servers);
    if (page.servers.length === 0 || all.length >= page.total) return all;
  }
}
