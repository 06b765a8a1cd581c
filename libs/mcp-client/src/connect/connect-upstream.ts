import type { ProtocolEra } from '@app/mcp-protocol';
import { LOCAL_EGRESS, SharedBudget, urlProblem } from '@app/platform';
import { HttpWire } from '../wire/http.wire.js';
import { lastWordsOf } from '../process/last-words.js';
import { ProbeKilledServer } from './negotiation.js';
import { RpcSession } from '../session/rpc-session.js';
import { SseWire } from '../wire/sse.wire.js';
import { StdioWire } from '../process/stdio.wire.js';
import type { ConnectOptions, UpstreamSession, UpstreamTarget } from '../upstream.js';
import { ConnectFailed, LoopRefused } from '../upstream.errors.js';
import type { Wire } from '../wire/wire.js';

/** The only place where a connection to a server is made. */
export async function connectUpstream(
  target: UpstreamTarget,
  options: ConnectOptions,
): Promise<UpstreamSession> {
  refuseForbidden(target, options);
  const endsAt = performance.now() + options.connectTimeoutMs;
  const attempt = (era: ProtocolEra | undefined): Promise<UpstreamSession> => {
    const connectTimeoutMs = Math.max(1, endsAt - performance.now());
    return open(target, { ...options, connectTimeoutMs }, era);
  };
  try {
    return await attempt(options.priorEra);
  } catch (error) {
    if (error instanceof ProbeKilledServer) return attempt('legacy');
    const outdated = error instanceof ConnectFailed && error.handshakeRefused;
    if (outdated && options.priorEra === 'legacy') return attempt(undefined);
    throw error;
  }
}

async function open(
  target: UpstreamTarget,
  options: ConnectOptions,
  era: ProtocolEra | undefined,
): Promise<UpstreamSession> {
  const wire = wireTo(target, options);
  try {
    return await RpcSession.open(wire, options, era);
  } catch (error) {
    const lastWords = lastWordsOf(wire.logs());
    const saysAll = error instanceof ProbeKilledServer || error instanceof LoopRefused;
    if (!(error instanceof Error) || saysAll || !lastWords) throw error;
    throw new ConnectFailed(`${withoutPrefix(error.message)}; its last words: ${lastWords}`, error);
  }
}

const DEFAULT_RECEIVING_BYTES = 512_000_000;

function wireTo(target: UpstreamTarget, options: ConnectOptions): Wire {
  const receiving = options.receiving ?? new SharedBudget(DEFAULT_RECEIVING_BYTES);
  const limits = { maxBytes: options.maxAnswerBytes, room: receiving.share() };
  switch (target.kind) {
    case 'STDIO':
      return new StdioWire(target, limits, options.secrets ?? Object.values(target.env), (line) =>
        options.onLogLine?.(line),
      );
    case 'SSE':
      return new SseWire(
        target,
        limits,
        options.connectTimeoutMs,
        options.authorizer,
        options.egress,
      );
    case 'HTTP':
      return new HttpWire(
        target,
        limits,
        options.connectTimeoutMs,
        options.authorizer,
        options.egress,
      );
    default:
      return target satisfies never;
  }
}

function refuseForbidden(target: UpstreamTarget, options: ConnectOptions): void {
  if (target.kind === 'STDIO') return;
  const { allowInsecureHttp, egress } = options;
  const rules = { allowInsecureHttp, egress: egress?.policy ?? LOCAL_EGRESS };
  const problem = urlProblem(target.url, rules);
  if (problem) throw new ConnectFailed(`its URL is refused. ${problem}`);
}

function withoutPrefix(message: string): string {
  return message.replace(/^Connecting failed: /, '');
}
