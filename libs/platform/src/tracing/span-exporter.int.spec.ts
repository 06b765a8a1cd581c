import { setImmediate as nextTurn } from 'node:timers/promises';
import { Collector } from '../../../../test/support/collector.js';
import { testEnv } from '../../../../test/support/env.js';
import { eventually } from '../../../../test/support/eventually.js';
import { heldBytes } from '../../../../test/support/memory.js';
import { Egress } from '../egress/egress.js';
import { NamedSpan, Trace } from './span.js';
import { SpanExporter } from './span-exporter.js';
import { tracingSettings } from './tracing-settings.js';

const keeper = { slowMs: Infinity, keep: () => undefined, drop: () => undefined };

function spanNamed(name: string, attributes: readonly string[] = []): NamedSpan {
  const span = new NamedSpan(new Trace(keeper, true), undefined, 1, name, attributes);
  span.endedAt = 2;
  return span;
}

describe(SpanExporter.name, () => {
  let collector: Collector;
  let exporter: SpanExporter;
  let counts: { exported: number; dropped: number };
  beforeEach(async () => {
    collector = await Collector.start();
    counts = { exported: 0, dropped: 0 };
  });
  afterEach(async () => {
    await exporter.close();
    await collector.close();
  });

  const add = (span: NamedSpan): void => exporter.add(span, 1_700_000_000_000);
  const start = (settings: Record<string, string> = {}): void => {
    const env = testEnv('unused', {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_TIMEOUT: '200',
      OTEL_BSP_SCHEDULE_DELAY: '10',
      ...settings,
    });
    const read = tracingSettings(env);
    if (!read) throw new Error('tracing is off');
    exporter = new SpanExporter(read, new Egress(), {
      exported: (spans) => (counts.exported += spans),
      dropped: (spans) => (counts.dropped += spans),
    });
  };

  it('sends spans with the headers of its settings, also compressed', async () => {
    start({
      OTEL_EXPORTER_OTLP_HEADERS: 'x-api-key=a%20key',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_SERVICE_NAME: 'mine',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    });
    add(spanNamed('one'));
    await eventually(() => expect(collector.spans).toMatchObject([{ name: 'one' }]));
    expect(collector.problem).toBeUndefined();
    expect(collector.headers[0]).toMatchObject({ 'x-api-key': 'a key' });
    expect(collector.resources[0]).toMatchObject({
      'service.name': 'mine',
      'deployment.environment.name': 'test',
    });
  });

  it('keeps the newest spans while the collector is away, and sends them when it is back', async () => {
    start({ OTEL_BSP_MAX_QUEUE_SIZE: '20', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '10' });
    collector.status = 503;
    for (let i = 0; i < 200; i++) add(spanNamed(`span ${i}`));
    await eventually(() => expect(collector.requests).toBeGreaterThan(0));
    collector.status = 200;
    await eventually(() => expect(collector.spans.at(-1)?.name).toBe('span 199'));
    await eventually(() => expect(counts.exported + counts.dropped).toBe(200));
    expect(collector.spans.length).toBeLessThanOrEqual(30);
  });

  it('keeps at most four megabytes, whatever the spans are', async () => {
    start({ OTEL_BSP_MAX_QUEUE_SIZE: '100000' });
    collector.status = 0;
    const attributes = Array.from({ length: 400 }, (_, i) => (i % 2 ? 'v'.repeat(256) : `k${i}`));
    const large = spanNamed('x', attributes);
    for (let i = 0; i < 1_000; i++) add(large);
    expect(counts.dropped).toBeGreaterThan(800);
  });

  it.each([
    ['refuses', 503, 0],
    ['never answers', 0, 0],
    ['answers slowly', 202, 500],
  ])(
    'holds at most five megabytes of a thousand spans a second for ten minutes while the collector %s',
    async (_what, status, delayMs) => {
      start({ OTEL_EXPORTER_OTLP_TIMEOUT: '60000' });
      add(spanNamed('the first, for which the client is loaded'));
      await eventually(() => expect(counts.exported).toBe(1));
      Object.assign(collector, { status, delayMs });
      const before = heldBytes();
      for (let second = 0; second < 600; second++) {
        for (let i = 0; i < 1_000; i++) add(spanNamed(`tools/call of the server ${i}`));
        await nextTurn();
      }
      expect(heldBytes() - before).toBeLessThan(5_000_000);
      expect(counts.dropped).toBeGreaterThan(500_000);
    },
  );

  describe('at the end', () => {
    const batches = { OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '10', OTEL_BSP_SCHEDULE_DELAY: '3600000' };
    const addMany = (spans: number): void => {
      for (let i = 0; i < spans; i++) add(spanNamed(`span ${i}`));
    };

    it('sends all spans that wait, in as many batches as they are', async () => {
      start({ ...batches, OTEL_EXPORTER_OTLP_TIMEOUT: '60000' });
      addMany(45);
      await exporter.close();
      expect(collector.spans.length).toBe(45);
      expect(collector.requests).toBe(5);
      expect(counts).toEqual({ exported: 45, dropped: 0 });
    });

    it('drops what a slow collector does not take in time', async () => {
      start({ ...batches, OTEL_EXPORTER_OTLP_TIMEOUT: '60000' });
      collector.delayMs = 500;
      addMany(400);
      await exporter.close();
      expect(counts.dropped).toBeGreaterThan(0);
      expect(counts.exported + counts.dropped).toBe(400);
    });

    it('drops what waits for a collector that is away', async () => {
      start(batches);
      collector.status = 503;
      addMany(45);
      await eventually(() => expect(collector.requests).toBeGreaterThan(0));
      await exporter.close();
      expect(counts).toEqual({ exported: 0, dropped: 45 });
    });
  });

  it('does not send again what the collector refuses for good', async () => {
    start();
    collector.status = 400;
    add(spanNamed('one'));
    await eventually(() => expect(counts.dropped).toBe(1));
    expect(collector.requests).toBe(1);
  });
});
