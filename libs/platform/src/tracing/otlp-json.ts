import type { Span, SpanAttributes, SpanKind } from './span.js';
import { carrierOf } from './trace-context.js';

/** Longer values are cut; names of tools and servers are shorter. */
const MAX_VALUE_CHARS = 256;
const PLAIN = /^[\w ./:-]{0,128}$/;

const KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 };
const COMMA = Buffer.from(',');
const TAIL = Buffer.from(']}]}]}');
const STATUS_ERROR = ',"status":{"code":2}';

/** `flags` of OTLP: sampled, whether the parent is remote is known, the parent is remote. */
const LOCAL_FLAGS = 0x101;
const REMOTE_FLAGS = 0x301;
const LINK_FLAGS = 0x300;

/**
 * A span as OTLP/JSON. Written by hand, because `JSON.stringify` of the nested attributes costs more than all other work
 * of a span together. `epochMs` is the time of day at 0 of `performance.now()`.
 */
export function spanJson(span: Span, epochMs: number): string {
  const { trace, parent } = span;
  const { remote, link } = trace;
  const parentId = parent ? parent.id : remote?.spanId;
  const isRemote = !parent && remote !== undefined;
  return (
    `{"traceId":"${trace.id}","spanId":"${span.id}"` +
    (remote?.state === undefined ? '' : `,"traceState":${JSON.stringify(remote.state)}`) +
    (parentId === undefined ? '' : `,"parentSpanId":"${parentId}"`) +
    `,"flags":${isRemote ? REMOTE_FLAGS : LOCAL_FLAGS},"name":${text(span.name)},"kind":${KINDS[span.kind]}` +
    `,"startTimeUnixNano":"${nanoseconds(epochMs + span.startedAt)}"` +
    `,"endTimeUnixNano":"${nanoseconds(epochMs + span.endedAt)}"` +
    `,"attributes":${attributesJson(span.attributes, span.errorType)}` +
    (link && !parent ? `,"links":[${linkJson(link)}]` : '') +
    (span.errorType === undefined ? '}' : `${STATUS_ERROR}}`)
  );
}

/** The body of an export: all are JSON. */
export function exportBody(resource: string, scope: string, spans: readonly Buffer[]): Buffer {
  const head = `{"resourceSpans":[{"resource":{"attributes":${resource}},"scopeSpans":[{"scope":${scope},"spans":[`;
  const listed = spans.flatMap((span, i) => (i === 0 ? [span] : [COMMA, span]));
  return Buffer.concat([Buffer.from(head), ...listed, TAIL]);
}

export function attributesJson(attributes: SpanAttributes, errorType?: string): string {
  let json = errorType === undefined ? '' : attribute('error.type', errorType);
  for (let i = 0; i + 1 < attributes.length; i += 2) {
    const value = attributes[i + 1];
    if (value === undefined) continue;
    if (json) json += ',';
    json += attribute(String(attributes[i]), value);
  }
  return `[${json}]`;
}

function attribute(key: string, value: string | number): string {
  if (typeof value === 'string') {
    return PLAIN.test(value)
      ? `${plainHead(key)}${value}"}}`
      : `{"key":"${key}","value":{"stringValue":${text(value)}}}`;
  }
  return Number.isInteger(value)
    ? `{"key":"${key}","value":{"intValue":"${value}"}}`
    : `{"key":"${key}","value":{"doubleValue":${value}}}`;
}

const plainHeads = new Map<string, string>();

/** Keys are constants of this code, of which there are few. */
function plainHead(key: string): string {
  let head = plainHeads.get(key);
  if (head === undefined) {
    head = `{"key":"${key}","value":{"stringValue":"`;
    plainHeads.set(key, head);
  }
  return head;
}

function linkJson(link: NonNullable<Span['trace']['link']>): string {
  const { tracestate } = carrierOf(link);
  const state = tracestate === undefined ? '' : `,"traceState":${JSON.stringify(tracestate)}`;
  return `{"traceId":"${link.traceId}","spanId":"${link.spanId}"${state},"flags":${LINK_FLAGS | (link.isSampled ? 1 : 0)}}`;
}

/** Most values need no escapes, and to see that is cheaper than `JSON.stringify`. */
function text(value: string): string {
  if (PLAIN.test(value)) return `"${value}"`;
  return JSON.stringify(
    value.length > MAX_VALUE_CHARS ? `${value.slice(0, MAX_VALUE_CHARS - 1)}…` : value,
  );
}

/** Microseconds are the precision of the clock, and a float has no more for a time of day. */
function nanoseconds(ms: number): string {
  return `${Math.round(ms * 1_000)}000`;
}
