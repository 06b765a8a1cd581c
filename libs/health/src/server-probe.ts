import { Injectable } from '@nestjs/common';
import { UpstreamRpcError, type UpstreamSession } from '@app/mcp';
import type { Server } from '@app/registry';
import type { ProbeOutcome } from './verdict.js';

export const PROBE_TIMEOUT_MS = 5_000;
const METHOD_NOT_FOUND = -32_601;

/** Asks one server how it is: its health URL or, without one, the session that calls use too. */
@Injectable()
export class ServerProbe {
  async probe(
    server: Pick<Server, 'healthCheckUrl'>,
    session: UpstreamSession,
  ): Promise<ProbeOutcome> {
    const startedAt = performance.now();
    try {
      const refusal =
        server.healthCheckUrl === null
          ? await this.ping(session)
          : await this.get(server.healthCheckUrl);
      return refusal ?? { kind: 'healthy', responseTimeMs: performance.now() - startedAt };
    } catch (error) {
      return { kind: 'failed', error: error instanceof Error ? error.message : String(error) };
    }
  }

  private async ping(session: UpstreamSession): Promise<undefined> {
    try {
      await session.request('ping', undefined, { timeoutMs: PROBE_TIMEOUT_MS });
    } catch (error) {
      const unknown = error instanceof UpstreamRpcError && error.rpc.code === METHOD_NOT_FOUND;
      if (!unknown) throw error;
      await session.request('tools/list', {}, { timeoutMs: PROBE_TIMEOUT_MS });
    }
    return undefined;
  }

  /** Only 200 is healthy; a redirect is not followed. */
  private async get(url: string): Promise<ProbeOutcome | undefined> {
    const { request } = await import('undici');
    const { statusCode, body } = await request(url, {
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
    });
    await body.dump();
    if (statusCode === 200) return undefined;
    if (statusCode >= 400 && statusCode < 500) {
      return { kind: 'misconfigured', warning: `the health check URL answers ${statusCode}` };
    }
    return { kind: 'failed', error: `the health check URL answers ${statusCode}` };
  }
}
