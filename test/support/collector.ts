import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';

const attributes = z.array(
  z.strictObject({
    key: z.string(),
    value: z.union([
      z.strictObject({ stringValue: z.string() }).transform(({ stringValue }) => stringValue),
      z.strictObject({ intValue: z.string() }).transform(({ intValue }) => Number(intValue)),
      z.strictObject({ doubleValue: z.number() }).transform(({ doubleValue }) => doubleValue),
    ]),
  }),
);
const nanoseconds = z.string().regex(/^\d{19}$/);
const traceId = z.string().regex(/^[0-9a-f]{32}$/);
const spanId = z.string().regex(/^[0-9a-f]{16}$/);

/** OTLP/JSON of traces, without the parts that this service does not send. */
const exported = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes }),
      scopeSpans: z.array(
        z.strictObject({
          scope: z.strictObject({ name: z.string(), version: z.string() }),
          spans: z.array(
            z.strictObject({
              traceId,
              spanId,
              traceState: z.string().optional(),
              parentSpanId: spanId.optional(),
              flags: z.int(),
              name: z.string().min(1),
              kind: z.union([z.literal(1), z.literal(2), z.literal(3)]),
              startTimeUnixNano: nanoseconds,
              endTimeUnixNano: nanoseconds,
              attributes,
              links: z
                .array(
                  z.strictObject({
                    traceId,
                    spanId,
                    traceState: z.string().optional(),
                    flags: z.int(),
                  }),
                )
                .optional(),
              status: z.strictObject({ code: z.literal(2) }).optional(),
            }),
          ),
        }),
      ),
    }),
  ),
});

type Exported = z.infer<typeof exported>['resourceSpans'][number]['scopeSpans'][number]['spans'];

export type CollectedSpan = Omit<Exported[number], 'attributes'> & {
  readonly attributes: Readonly<Record<string, string | number>>;
};

/** A stand-in for an OpenTelemetry collector that checks and keeps what it is sent. */
export class Collector {
  readonly spans: CollectedSpan[] = [];
  readonly resources: Readonly<Record<string, string | number>>[] = [];
  readonly headers: Readonly<Record<string, string | string[] | undefined>>[] = [];
  /** The body of every request, as it came. */
  readonly bodies: string[] = [];
  /** Requests answered. */
  requests = 0;
  /** What it answers; 0 is nothing at all. */
  status = 200;
  /** How long it takes to answer. */
  delayMs = 0;
  problem: unknown;
  private readonly server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      this.requests += 1;
      if (this.status === 0) return;
      const bytes = Buffer.concat(parts);
      const isGzipped = request.headers['content-encoding'] === 'gzip';
      if (this.status === 200) this.take((isGzipped ? gunzipSync(bytes) : bytes).toString());
      this.headers.push(request.headers);
      const { status } = this;
      setTimeout(() => {
        response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
      }, this.delayMs);
    });
  });

  static async start(): Promise<Collector> {
    const collector = new Collector();
    await new Promise<void>((resolve) => collector.server.listen(0, '127.0.0.1', resolve));
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  ofTrace(id: string): CollectedSpan[] {
    return this.spans.filter((span) => span.traceId === id);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }

  private take(body: string): void {
    this.bodies.push(body);
    const read = exported.safeParse(JSON.parse(body));
    if (!read.success) this.problem ??= read.error;
    for (const { resource, scopeSpans } of read.data?.resourceSpans ?? []) {
      this.resources.push(byKey(resource.attributes));
      for (const { spans } of scopeSpans) {
        for (const span of spans) this.spans.push({ ...span, attributes: byKey(span.attributes) });
      }
    }
  }
}

function byKey(list: z.infer<typeof attributes>): Record<string, string | number> {
  return Object.fromEntries(list.map(({ key, value }) => [key, value]));
}
