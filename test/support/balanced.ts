import { Client as ModernSdk, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as LegacySdk } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Peers } from '@app/platform';
import { startApp, type TestApp } from './app.js';
import { Balancer } from './balancer.js';
import { eventually } from './eventually.js';
import { createDatabase } from './postgres.js';

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
  legacyClient(path?: string, capabilities?: object): Promise<LegacySdk>;
  modernClient(path?: string, capabilities?: object): Promise<ModernSdk>;
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
  const requestInit = { headers: { authorization: `Bearer ${TOKENS.alice}` } };
  return {
    url,
    replicas,
    balancer,
    tokens: TOKENS,
    async legacyClient(path = '/mcp', capabilities = {}) {
      const client = new LegacySdk({ name: 'old', version: '1' }, { capabilities });
      const transport = new LegacyTransport(new URL(url + path), { requestInit });
      closing.push(() => client.close());
      // The SDK's own types conflict with exactOptionalPropertyTypes.
      await client.connect(transport as Parameters<LegacySdk['connect']>[0]);
      return client;
    },
    async modernClient(path = '/mcp', capabilities = {}) {
      const client = new ModernSdk(
        { name: 'new', version: '1' },
        { capabilities, versionNegotiation: { mode: 'auto' } },
      );
      closing.push(() => client.close());
      await client.connect(new StreamableHTTPClientTransport(new URL(url + path), { requestInit }));
      return client;
    },
    async close() {
      await Promise.all(closing.map((close) => close()));
      await Promise.all(replicas.map((replica) => replica.close()));
      balancer.close();
    },
  };
}
