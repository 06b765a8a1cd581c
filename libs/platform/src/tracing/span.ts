import { AppError } from '../errors/app-error.js';
import { newSpanId, newTraceId } from './random-ids.js';
import { carrierOf, type TraceCarrier, type TraceContext } from './trace-context.js';

/** More spans of one trace are not recorded: a query may ask thousands of servers. */
const MAX_SPANS = 1_000;

export type SpanKind = 'internal' | 'server' | 'client';

/** Names and values in turn; an undefined value is left out. */
export type SpanAttributes = readonly (string | number | undefined)[];

/**
 * One piece of work within a trace. Name and attributes are asked for only when the trace is recorded, so a span of a
 * call keeps references that end with it. Never arguments, results or credentials.
 */
export abstract class Span {
  /** On the clock of `performance.now()`, like `startedAt`; 0 while it runs. */
  endedAt = 0;
  /** `error.type` of the semantic conventions; undefined without an error. */
  errorType: string | undefined;
  private spanId = '';
  private carrier: TraceCarrier | undefined;

  constructor(
    readonly trace: Trace,
    readonly parent: Span | undefined,
    readonly startedAt: number,
  ) {
    trace.add(this);
  }

  abstract readonly kind: SpanKind;
  abstract readonly name: string;
  abstract readonly attributes: SpanAttributes;

  get id(): string {
    return (this.spanId ||= newSpanId());
  }

  /** What a request to another service carries of the trace; undefined if it carries nothing. */
  get carried(): TraceCarrier | undefined {
    const { trace } = this;
    if (!trace.isSampled) return trace.remote && carrierOf(trace.remote);
    return (this.carrier ??= carrierOf(this.context));
  }

  end(errorType?: string, endedAt = performance.now()): void {
    if (this.endedAt > 0) return;
    this.errorType = errorType;
    this.endedAt = endedAt;
    this.trace.ended(this);
  }

  /** With the code of an error of this service; other errors may have any text. */
  fail(error: unknown): void {
    this.end(error instanceof AppError ? error.code : '_OTHER');
  }

  /** Work within this one, that this process does itself. */
  child(name: string, attributes?: SpanAttributes, startedAt = performance.now()): Span {
    return new NamedSpan(this.trace, this, startedAt, name, attributes);
  }

  private get context(): TraceContext {
    const { id: traceId, isSampled, remote } = this.trace;
    return { traceId, spanId: this.id, isSampled, state: remote?.state };
  }
}

export interface TraceKeeper {
  /** A span whose root takes at least this long is recorded whatever the sampler decided. */
  readonly slowMs: number;
  keep(span: Span): void;
  drop(spans: number): void;
}

/**
 * The spans of one request. They are recorded when it ends: if the sampler chose it at its beginning, or if one of them
 * has an error, or if it was slow.
 */
export class Trace {
  private readonly spans: Span[] = [];
  private traceId = '';
  private hasError = false;
  private dropped = 0;
  /** Undefined until the first span, the root, has ended. */
  private isKept: boolean | undefined;

  constructor(
    private readonly keeper: TraceKeeper,
    /** The sampler's decision at the beginning, which is passed on. */
    readonly isSampled: boolean,
    /** The sender's span. */
    readonly remote?: TraceContext,
    /** Another span that the request is related to. */
    readonly link?: TraceContext,
  ) {}

  get id(): string {
    return (this.traceId ||= this.remote?.traceId ?? newTraceId());
  }

  /** The id, if this trace is recorded, as far as that is known. */
  get recordedId(): string | undefined {
    return this.isKept || (this.isKept === undefined && (this.isSampled || this.hasError))
      ? this.id
      : undefined;
  }

  /** Called by each span as it begins. */
  add(span: Span): void {
    if (this.spans.length < MAX_SPANS && this.isKept === undefined) this.spans.push(span);
    else this.dropped += 1;
  }

  /** Called by each span as it ends. */
  ended(span: Span): void {
    if (span.errorType !== undefined) this.hasError = true;
    if (this.isKept !== undefined) return this.endedLate(span);
    const [root] = this.spans;
    if (span !== root) return;
    const isSlow = root.endedAt - root.startedAt >= this.keeper.slowMs;
    this.isKept = this.isSampled || this.hasError || isSlow;
    if (!this.isKept) return;
    for (const one of this.spans) if (one.endedAt > 0) this.keeper.keep(one);
    if (this.dropped > 0) this.keeper.drop(this.dropped);
  }

  /** Such as a call that a query gave up waiting for. */
  private endedLate(span: Span): void {
    if (this.isKept && this.spans.includes(span)) this.keeper.keep(span);
  }
}

/** A span whose name and attributes are known when it begins. */
export class NamedSpan extends Span {
  constructor(
    trace: Trace,
    parent: Span | undefined,
    startedAt: number,
    readonly name: string,
    readonly attributes: SpanAttributes = [],
    readonly kind: SpanKind = 'internal',
  ) {
    super(trace, parent, startedAt);
  }
}

/** Does the work within a span of its own, if there is a parent for it. */
export async function timed<T>(
  parent: Span | undefined,
  name: string,
  work: (span: Span | undefined) => Promise<T>,
  attributes?: SpanAttributes,
): Promise<T> {
  return parent ? duringSpan(parent.child(name, attributes), work) : work(undefined);
}

/** The span ends with the work. */
export async function duringSpan<T>(span: Span, work: (span: Span) => Promise<T>): Promise<T> {
  try {
    const done = await work(span);
    span.end();
    return done;
  } catch (error) {
    span.fail(error);
    throw error;
  }
}
