import type { UpstreamSession } from '@app/mcp-client';
import { SessionPool } from '@app/sessions';
import { type BalancedReplicas, startBalanced } from '../support/balanced.js';
import { describeFourCells } from '../support/four-cells.js';

describe('three balanced replicas', () => {
  let cluster: BalancedReplicas;

  beforeAll(async () => {
    cluster = await startBalanced(3);
  });
  afterAll(() => cluster.close());

  describeFourCells('through all of them', async (base_url) => {
    const id = await cluster.register(
      { name: 'peer', transport_type: 'HTTP', connection_config: { base_url } },
      'peer.echo',
    );
    const path = `/api/v1/aggregator/servers/${id}`;
    const sessions = (): UpstreamSession[] =>
      cluster.replicas.flatMap(({ app }) => app.get(SessionPool).get(id) ?? []);
    return {
      url: cluster.url,
      token: cluster.tokens.alice,
      era: async () => sessions()[0]?.era ?? 'none',
      pending: () => sessions().reduce((sum, { pending }) => sum + pending, 0),
      close: async () => void (await cluster.rest('DELETE', path)),
    };
  });
});
