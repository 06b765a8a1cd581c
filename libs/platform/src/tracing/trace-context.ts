/** What a request says about the trace that it belongs to: W3C Trace Context, from headers or from `_meta` of MCP. */
export interface TraceContext {
  readonly traceId: string;
  /** Of the sender, the parent of our span. */
  readonly spanId: string;
  readonly isSampled: boolean;
  /** What tracing systems add, passed on unchanged. */
  readonly state: string | undefined;
}

/** The fields of a trace context, named alike in HTTP headers and in `_meta`. */
export interface TraceCarrier {
  readonly traceparent: string;
  readonly tracestate?: string;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const TRACEPARENT_CHARS = 55;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);
const SAMPLED = 1;

const MAX_STATE_CHARS = 512;
const MAX_STATE_MEMBERS = 32;
const STATE_MEMBER =
  /^(?:[a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** Undefined when it is missing or invalid: a new trace begins then. An invalid `tracestate` is dropped by itself. */
export function readTraceContext(
  traceparent: unknown,
  tracestate: unknown,
): TraceContext | undefined {
  if (typeof traceparent !== 'string') return undefined;
  // Later versions may append fields.
  const isLonger = traceparent.length > TRACEPARENT_CHARS;
  if (isLonger && traceparent[TRACEPARENT_CHARS] !== '-') return undefined;
  const match = TRACEPARENT.exec(isLonger ? traceparent.slice(0, TRACEPARENT_CHARS) : traceparent);
  const [, version, traceId = '', spanId = '', flags = ''] = match ?? [];
  if (!match || version === 'ff' || (isLonger && version === '00')) return undefined;
  if (traceId === NO_TRACE || spanId === NO_SPAN) return undefined;
  const isSampled = (Number.parseInt(flags, 16) & SAMPLED) !== 0;
  return { traceId, spanId, isSampled, state: readTraceState(tracestate) };
}

export function carrierOf({ traceId, spanId, isSampled, state }: TraceContext): TraceCarrier {
  const traceparent = `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
  return state === undefined ? { traceparent } : { traceparent, tracestate: state };
}

function readTraceState(text: unknown): string | undefined {
  if (typeof text !== 'string' || text.length > MAX_STATE_CHARS) return undefined;
  const members = text
    .split(',')
    .map((member) => member.trim())
    .filter(Boolean);
  if (members.length === 0 || members.length > MAX_STATE_MEMBERS) return undefined;
  if (!members.every((member) => STATE_MEMBER.test(member))) return undefined;
  const keys = new Set(members.map((member) => member.slice(0, member.indexOf('='))));
  return keys.size === members.length ? members.join(',') : undefined;
}
