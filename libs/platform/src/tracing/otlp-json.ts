import { JsonBytes } from './json-bytes.js';
import type { Span, SpanAttributes, SpanKind } from './span.js';
import { carrierOf } from './trace-context.js';

/** Longer values are cut; names of tools and servers are shorter. */
const MAX_VALUE_CHARS = 256;
const MICROS_PER_MS = 1_000;
const MICROS_PER_SECOND = 1_000_000;

const kind = (number: number): string => `,"kind":${number},"startTimeUnixNano":"`;
const KINDS: Readonly<Record<SpanKind, string>> = {
  internal: kind(1),
  server: kind(2),
  client: kind(3),
};
const COMMA = Buffer.from(',');
const TAIL = Buffer.from(']}]}]}');
const STATUS_ERROR = ',"status":{"code":2}';

/** `flags` of OTLP: sampled, whether the parent is remote is known, the parent is remote. */
const LOCAL_FLAGS = String(0x101);
const REMOTE_FLAGS = String(0x301);
const LINK_FLAGS = 0x300;

/** Writes a span as OTLP/JSON. `epochMs` is the time of day at 0 of `performance.now()`. */
export function writeSpan(json: JsonBytes, span: Span, epochMs: number): void {
  const { trace, parent } = span;
  const { remote, link } = trace;
  const parentId = parent ? parent.id : remote?.spanId;
  const isRemote = !parent && remote !== undefined;
  json.ascii('{"traceId":"');
  json.ascii(trace.id);
  json.ascii('","spanId":"');
  json.ascii(span.id);
  if (remote?.state !== undefined) {
    json.ascii('","traceState":');
    json.string(remote.state);
    json.ascii(',"flags":');
  } else json.ascii('","flags":');
  json.ascii(isRemote ? REMOTE_FLAGS : LOCAL_FLAGS);
  if (parentId !== undefined) {
    json.ascii(',"parentSpanId":"');
    json.ascii(parentId);
    json.ascii('"');
  }
  json.ascii(',"name":');
  writeText(json, span.name);
  json.ascii(KINDS[span.kind]);
  writeTime(json, epochMs + span.startedAt);
  json.ascii('","endTimeUnixNano":"');
  writeTime(json, epochMs + span.endedAt);
  json.ascii('","attributes":');
  writeAttributes(json, span.attributes, span.errorType);
  if (link && !parent) writeLink(json, link);
  json.ascii(span.errorType === undefined ? '}' : `${STATUS_ERROR}}`);
}

/** The body of an export: all are JSON. */
export function exportBody(resource: string, scope: string, spans: readonly Buffer[]): Buffer {
  const head = `{"resourceSpans":[{"resource":{"attributes":${resource}},"scopeSpans":[{"scope":${scope},"spans":[`;
  const listed = spans.flatMap((span, i) => (i === 0 ? [span] : [COMMA, span]));
  return Buffer.concat([Buffer.from(head), ...listed, TAIL]);
}

/** As a JSON array. */
export function attributesJson(attributes: SpanAttributes): string {
  const json = new JsonBytes();
  writeAttributes(json, attributes, undefined);
  return json.written.toString();
}

function writeAttributes(
  json: JsonBytes,
  attributes: SpanAttributes,
  errorType: string | undefined,
): void {
  json.ascii('[');
  let isFirst = errorType === undefined;
  if (errorType !== undefined) writeAttribute(json, 'error.type', errorType);
  for (let i = 0; i + 1 < attributes.length; i += 2) {
    const value = attributes[i + 1];
    if (value === undefined) continue;
    if (!isFirst) json.ascii(',');
    isFirst = false;
    writeAttribute(json, String(attributes[i]), value);
  }
  json.ascii(']');
}

const heads = new Map<string, Buffer>();

/** What comes before a text; names of attributes are constants of this code, of which there are few. */
function headOf(name: string): Buffer {
  let head = heads.get(name);
  if (!head) heads.set(name, (head = Buffer.from(`{"key":"${name}","value":{"stringValue":`)));
  return head;
}

function writeAttribute(json: JsonBytes, name: string, value: string | number): void {
  if (typeof value === 'string') {
    json.bytes(headOf(name));
    writeText(json, value);
    json.ascii('}}');
    return;
  }
  json.ascii('{"key":"');
  json.ascii(name);
  if (Number.isInteger(value)) {
    json.ascii('","value":{"intValue":"');
    json.ascii(String(value));
    json.ascii('"}}');
  } else {
    json.ascii('","value":{"doubleValue":');
    json.ascii(String(value));
    json.ascii('}}');
  }
}

function writeLink(json: JsonBytes, link: NonNullable<Span['trace']['link']>): void {
  const { tracestate } = carrierOf(link);
  json.ascii(`,"links":[{"traceId":"${link.traceId}","spanId":"${link.spanId}"`);
  if (tracestate !== undefined) {
    json.ascii(',"traceState":');
    json.string(tracestate);
  }
  json.ascii(`,"flags":${LINK_FLAGS | (link.isSampled ? 1 : 0)}}]`);
}

function writeText(json: JsonBytes, text: string): void {
  json.string(text.length > MAX_VALUE_CHARS ? `${text.slice(0, MAX_VALUE_CHARS - 1)}…` : text);
}

/** In nanoseconds. Microseconds are the precision of the clock, and a float has no more for a time of day. */
function writeTime(json: JsonBytes, ms: number): void {
  const micros = Math.round(ms * MICROS_PER_MS);
  const seconds = Math.floor(micros / MICROS_PER_SECOND);
  json.ascii(String(seconds));
  json.sixDigits(micros - seconds * MICROS_PER_SECOND);
  json.ascii('000');
}
