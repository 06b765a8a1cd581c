import { randomBytes } from 'node:crypto';
import { type BalancedReplicas, startBalanced } from '../support/balanced.js';
import { Collector } from '../support/collector.js';
import { eventually } from '../support/eventually.js';
import { fixture } from '../support/peers.js';

describe('two replicas and a STDIO server, which runs at one of them', () => {
  let collector: Collector;
  let cluster: BalancedReplicas;

  beforeAll(async () => {
    collector = await Collector.start();
    cluster = await startBalanced(2, {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_TRACES_SAMPLER: 'parentbased_always_off',
      OTEL_BSP_SCHEDULE_DELAY: '50',
      MCP_AGGREGATOR_TRACE_SLOW: '3600',
    });
    await cluster.register(
      {
        name: 'traced',
        transport_type: 'STDIO',
        connection_config: {
          command: process.execPath,
          args: [fixture('traced.mjs'), 'stdio', 'legacy'],
        },
      },
      'traced.where',
    );
  });
  afterAll(async () => {
    await cluster.close();
    await collector.close();
  });

  it('are one trace, whichever of them is called', async () => {
    const requests: number[] = [];
    for (const { url } of cluster.replicas) {
      const traceId = randomBytes(16).toString('hex');
      const parentId = randomBytes(8).toString('hex');
      const answer = await fetch(`${url}/api/v1/tools/call`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${cluster.tokens.alice}`,
          'content-type': 'application/json',
          traceparent: `00-${traceId}-${parentId}-01`,
        },
        body: JSON.stringify({ name: 'traced.where', arguments: {} }),
      });
      const text = await answer.text();
      expect([answer.status, text]).toEqual([200, expect.stringContaining(traceId)]);
      const spans = await eventually(() => {
        const found = collector.ofTrace(traceId);
        // Each span has its parent, and the last one is what the server was told.
        const ids = new Set([parentId, ...found.map(({ spanId }) => spanId)]);
        expect(found.every(({ parentSpanId = '' }) => ids.has(parentSpanId))).toBe(true);
        expect(found.some(({ spanId, kind }) => kind === 3 && text.includes(spanId))).toBe(true);
        expect(found.some(({ parentSpanId }) => parentSpanId === parentId)).toBe(true);
        return found;
      });
      requests.push(spans.filter(({ kind }) => kind === 2).length);
    }
    // At the replica that runs the server, and through the one that passes the call on to it.
    expect(requests.toSorted((a, b) => a - b)).toEqual([1, 2]);
  });
});
