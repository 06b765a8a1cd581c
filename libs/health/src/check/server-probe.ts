import { Injectable } from '@nestjs/common';
import { connectionProblem, Egress, inSeconds } from '@app/platform';
import { rpcCode, UpstreamRpcError } from '@app/mcp-protocol';
import type { UpstreamSession } from '@app/mcp-client';
import type { Server } from '@app/registry';
import type { Agent } from 'undici';
import type { ProbeOutcome } from './health-verdict.js';

export const PROBE_TIMEOUT_MS = 5_000;

/** Checks one server: by its health URL or, without one, over the session that calls use (contract R19). */
@Injectable()
export class ServerProbe {
  private agent: Promise<Agent> | undefined;

  constructor(private readonly egress: Egress) {}

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
      return { kind: 'failed', error: reasonOf(error) };
    }
  }

  private async ping(session: UpstreamSession): Promise<undefined> {
    try {
      await session.request('ping', undefined, { timeoutMs: PROBE_TIMEOUT_MS });
    } catch (error) {
      const unknown =
        error instanceof UpstreamRpcError && error.rpc.code === rpcCode.methodNotFound;
      if (!unknown) throw error;
      await session.request('tools/list', {}, { timeoutMs: PROBE_TIMEOUT_MS });
    }
    return undefined;
  }

  /** Only 200 is healthy; redirects are not followed. No header or credential of the server is sent. */
  private async get(url: string): Promise<ProbeOutcome | undefined> {
    const { request } = await import('undici');
    this.agent ??= this.egress.agent();
    const { statusCode, body } = await request(url, {
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
      dispatcher: await this.agent,
    });
    await body.dump();
    if (statusCode === 200) return undefined;
    if (statusCode >= 400 && statusCode < 500) {
      return { kind: 'misconfigured', warning: `the health check URL answers ${statusCode}` };
    }
    return { kind: 'failed', error: `the health check URL answers ${statusCode}` };
  }
}

function reasonOf(error: unknown): string {
  // Checked by text: in Jest, Node's errors are not instances of `Error` of the test realm.
  if (String(error).startsWith('TimeoutError:')) {
    return `the health check URL did not answer within ${inSeconds(PROBE_TIMEOUT_MS)}`;
  }
  return connectionProblem(error) ?? (error instanceof Error ? error.message : String(error));
}
