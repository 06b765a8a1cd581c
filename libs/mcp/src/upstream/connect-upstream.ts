import { isLoopbackHost } from '@app/platform';
import { HttpWire } from './http.wire.js';
import { ProbeKilledServer } from './negotiation.js';
import { RpcSession } from './rpc-session.js';
import { SseWire } from './sse.wire.js';
import { StdioWire } from './stdio.wire.js';
import type { ConnectOptions, ProtocolEra, UpstreamSession, UpstreamTarget } from './upstream.js';
import { ConnectFailed } from './upstream.errors.js';
import type { Wire } from './wire.js';

/** The only place where a connection to a server is made. */
export async function connectUpstream(
  target: UpstreamTarget,
  options: ConnectOptions,
): Promise<UpstreamSession> {
  refuseInsecure(target, options.allowInsecureHttp);
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
    const lastWords = wire.logs().at(-1);
    if (!(error instanceof Error) || error instanceof ProbeKilledServer || !lastWords) throw error;
    throw new ConnectFailed(`${withoutPrefix(error.message)}; its last words: ${lastWords}`, error);
  }
}

function wireTo(target: UpstreamTarget, options: ConnectOptions): Wire {
  switch (target.kind) {
    case 'STDIO':
      return new StdioWire(
        target,
        options.maxAnswerBytes,
        options.secrets ?? Object.values(target.env),
        (line) => options.onLogLine?.(line),
      );
    case 'SSE':
      return new SseWire(
        target,
        options.maxAnswerBytes,
        options.connectTimeoutMs,
        options.authorizer,
      );
    case 'HTTP':
      return new HttpWire(
        target,
        options.maxAnswerBytes,
        options.connectTimeoutMs,
        options.authorizer,
      );
    default:
      return target satisfies never;
  }
}

function refuseInsecure(target: UpstreamTarget, allowed: boolean): void {
  if (target.kind === 'STDIO') return;
  if (!URL.canParse(target.url)) throw new ConnectFailed('its URL is not one');
  const { protocol, hostname } = new URL(target.url);
  if (protocol === 'https:') return;
  if (protocol !== 'http:') throw new ConnectFailed('its URL is neither https: nor http:');
  if (allowed || isLoopbackHost(hostname)) return;
  throw new ConnectFailed(
    'http: to another machine is only allowed by MCP_AGGREGATOR_ALLOW_INSECURE_HTTP',
  );
}

function withoutPrefix(message: string): string {
  return message.replace(/^Connecting failed: /, '');
}
