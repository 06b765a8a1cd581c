import { Client as ModernSdk, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as LegacySdk } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Peers } from '@app/platform';
import { startApp, type TestApp } from './app.js';
import { Balancer } from './balancer.js';
import { eventually } from './eventually.js';
import { createDatabase } from './postgres.js';

const capabilities = { elicitation: {} };
const RED = { action: 'accept', content: { colour: 'red' } } as const;
const TOKENS = {
  alice: 'a-token-of-alice-only',
  bob: 'a-token-of-bob-only-too',
  admin: 'a-token-of-the-admin',
} as const;

export interface BalancedReplicas {
  /** Of the load balancer, which sends each request to the next replica. */
  readonly url: string;
  readonly replicas: readonly TestApp[];
  readonly balancer: Balancer;
  readonly tokens: typeof TOKENS;
  /** Both answer every question with `red`. */
  legacyClient(path?: string): Promise<LegacySdk>;
  modernClient(path?: string): Promise<ModernSdk>;
  /** Registers a server through the load balancer; resolves when every replica lists this tool of it. */
  register(server: object, tool: string): Promise<string>;
  /** A request of the admin to the REST API, at the load balancer or at one replica. */
  rest(method: string, path: string, body?: object, at?: string): Promise<Response>;
  close(): Promise<void>;
}

/** Several replicas on one database, behind a round-robin load balancer without stickiness. */
export async function startBalanced(
  count: number,
  settings: Record<string, string> = {},
): Promise<BalancedReplicas> {
  const common = {
    DATABASE_URL: await createDatabase(),
    MCP_AGGREGATOR_TOKENS: `alice:call:${TOKENS.alice},bob:call:${TOKENS.bob},admin:admin:${TOKENS.admin}`,
    ...settings,
  };
  const balancer = new Balancer();
  const url = await balancer.listen();
  const replicas: TestApp[] = [];
  for (let i = 0; i < count; i++) {
    const replica = await startApp(common);
    replicas.push(replica);
    balancer.add(replica.url);
  }
  await eventually(() => {
    for (const replica of replicas) {
      expect(balancer.isReady(replica.url)).toBe(true);
      for (const other of replicas) {
        if (other === replica) continue;
        const { self } = other.app.get(Peers);
        expect(replica.app.get(Peers).get(self)).toBeDefined();
      }
    }
  });
  const closing: (() => Promise<unknown>)[] = [];
  const rest = (method: string, path: string, body?: object, at = url): Promise<Response> =>
    fetch(at + path, {
      method,
      headers: { authorization: `Bearer ${TOKENS.admin}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
  const requestInit = { headers: { authorization: `Bearer ${TOKENS.alice}` } };
  return {
    url,
    replicas,
    balancer,
    tokens: TOKENS,
    async legacyClient(path = '/mcp') {
      const client = new LegacySdk({ name: 'old', version: '1' }, { capabilities });
      client.setRequestHandler(ElicitRequestSchema, () => RED);
      const transport = new LegacyTransport(new URL(url + path), { requestInit });
      closing.push(() => client.close());
      // The SDK's own types conflict with exactOptionalPropertyTypes.
      await client.connect(transport as Parameters<LegacySdk['connect']>[0]);
      return client;
    },
    async modernClient(path = '/mcp') {
      const client = new ModernSdk(
        { name: 'new', version: '1' },
        {
          capabilities: { elicitation: { form: {} } },
          versionNegotiation: { mode: 'auto' },
        },
      );
      client.setRequestHandler('elicitation/create', () => RED);
      closing.push(() => client.close());
      await client.connect(new StreamableHTTPClientTransport(new URL(url + path), { requestInit }));
      return client;
    },
    rest,
    async register(server, tool) {
      const answer = await rest('POST', '/api/v1/aggregator/servers', server);
      expect(answer.status).toBe(201);
      const { id } = (await answer.json()) as { id: string };
      await eventually(async () => {
        for (const replica of replicas) {
          const listed = await rest('GET', '/api/v1/aggregator/tools', undefined, replica.url);
          expect(await listed.text()).toContain(`"${tool}"`);
        }
      });
      return id;
    },
    async close() {
      await Promise.all(closing.map((close) => close()));
      for (const replica of replicas) await replica.close();
      balancer.close();
    },
  };
}
