import { Logger } from '@nestjs/common';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Agent } from 'undici';
import type { Egress } from '../egress/egress.js';
import { connectionProblem } from '../errors/connection-problem.js';
import { product } from '../product.js';
import { attributesJson, exportBody } from './otlp-json.js';
import type { Span } from './span.js';
import { SpanBlocks, spansIn } from './span-blocks.js';
import type { TracingSettings } from './tracing-settings.js';

/** Together with the batch that is being sent, the most memory that spans take while no collector accepts them. */
const MAX_BYTES = 4_000_000;
/** The most spans are in at least so many blocks, so that few are lost at a time. */
const LEAST_BLOCKS = 8;
/** Waits after a failure: the first, doubled up to the last. */
const FIRST_WAIT_MS = 1_000;
const LAST_WAIT_MS = 30_000;
const MAX_ANSWER_BYTES = 16_384;
/** For all that waits when the service stops. */
const FAREWELL_MS = 2_000;

const TOO_LATE = 'the service stopped before it had taken all spans';

const RETRYABLE = new Set([429, 502, 503, 504]);
const compress = promisify(gzip);

export interface ExportCounts {
  exported(spans: number): void;
  dropped(spans: number): void;
}

/** Spans that wait for the collector, as JSON, and the one request that takes them there. The oldest are dropped. */
export class SpanExporter {
  private readonly logger = new Logger('tracing');
  private readonly resource: string;
  private readonly scope = JSON.stringify(product);
  private readonly waiting: SpanBlocks;
  private timer: NodeJS.Timeout | undefined;
  private sending: Promise<void> | undefined;
  private agent: Promise<Agent> | undefined;
  private failures = 0;
  private readonly closing = new AbortController();

  constructor(
    private readonly settings: TracingSettings,
    private readonly egress: Egress,
    private readonly counts: ExportCounts,
  ) {
    this.resource = attributesJson(settings.resource);
    const { maxQueue, maxBatch } = settings;
    const spans = Math.min(maxBatch, Math.ceil(maxQueue / LEAST_BLOCKS));
    this.waiting = new SpanBlocks(spans);
  }

  /** `epochMs` is the time of day at 0 of `performance.now()`. */
  add(span: Span, epochMs: number): void {
    this.waiting.add(span, epochMs);
    this.dropExcess();
    if (this.sending) return;
    if (this.waiting.spans >= this.settings.maxBatch && this.failures === 0) void this.send();
    else this.sendIn(this.settings.everyMs);
  }

  /** Sends all that waits, for two seconds at most, unless the collector is away. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.closing.abort(), this.failures > 0 ? 0 : FAREWELL_MS);
    await this.sending;
    while (this.failures === 0 && this.waiting.spans > 0) await this.send();
    clearTimeout(timer);
    this.closing.abort();
    clearTimeout(this.timer);
    this.counts.dropped(spansIn(this.waiting.take(Infinity)));
    await (await this.agent)?.destroy();
  }

  private sendIn(ms: number): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.send();
    }, ms).unref();
  }

  private send(): Promise<void> {
    return (this.sending ??= this.sendBatch().finally(() => {
      this.sending = undefined;
      const { spans } = this.waiting;
      if (spans === 0 || this.closing.signal.aborted) return;
      if (this.failures > 0) return this.sendIn(this.waitMs());
      if (spans >= this.settings.maxBatch) void this.send();
      else this.sendIn(this.settings.everyMs);
    }));
  }

  private async sendBatch(): Promise<void> {
    const batch = this.waiting.take(this.settings.maxBatch);
    const spans = spansIn(batch);
    if (spans === 0) return;
    const failure = await this.post(batch.map(({ json }) => json)).catch(
      (error: unknown): Failure => ({
        reason: this.closing.signal.aborted ? TOO_LATE : reasonOf(error),
        isFinal: false,
      }),
    );
    if (!failure) {
      this.counts.exported(spans);
      if (this.failures > 0) this.logger.log('traces.exported_again');
      this.failures = 0;
      return;
    }
    this.failures += 1;
    if (this.failures === 1) {
      const { origin } = new URL(this.settings.url);
      this.logger.warn({ collector: origin, reason: failure.reason }, 'traces.not_exported');
    }
    if (failure.isFinal) return this.counts.dropped(spans);
    this.waiting.takeBack(batch);
    this.dropExcess();
  }

  private async post(batch: readonly Buffer[]): Promise<Failure | undefined> {
    const { request } = await import('undici');
    this.agent ??= this.egress.agent();
    const { url, headers, isGzipped, timeoutMs } = this.settings;
    const body = exportBody(this.resource, this.scope, batch);
    const answer = await request(url, {
      method: 'POST',
      dispatcher: await this.agent,
      signal: AbortSignal.any([this.closing.signal, AbortSignal.timeout(timeoutMs)]),
      headers: {
        'user-agent': `switchboard/${product.version}`,
        ...headers,
        'content-type': 'application/json',
        ...(isGzipped && { 'content-encoding': 'gzip' }),
      },
      body: isGzipped ? await compress(body) : body,
    });
    await answer.body.dump({ limit: MAX_ANSWER_BYTES }).catch(() => undefined);
    const { statusCode } = answer;
    if (statusCode >= 200 && statusCode < 300) return undefined;
    return { reason: `it answered ${statusCode}`, isFinal: !RETRYABLE.has(statusCode) };
  }

  private dropExcess(): void {
    while (this.waiting.spans > this.settings.maxQueue || this.waiting.bytes > MAX_BYTES) {
      this.counts.dropped(this.waiting.dropOldest());
    }
  }

  private waitMs(): number {
    return Math.min(LAST_WAIT_MS, FIRST_WAIT_MS * 2 ** (this.failures - 1));
  }
}

interface Failure {
  readonly reason: string;
  /** Another attempt would fail as well. */
  readonly isFinal: boolean;
}

function reasonOf(error: unknown): string {
  if (String(error).startsWith('TimeoutError:')) return 'it did not answer in time';
  return connectionProblem(error) ?? (error instanceof Error ? error.message : String(error));
}
