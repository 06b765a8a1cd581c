import { Injectable } from '@nestjs/common';
import { boundedText, Egress, Env, egressPolicy } from '@app/platform';

const MAX_BYTES = 16_384;
const REQUEST_MS = 5_000;

/**
 * Fetches the metadata that clients publish (Client ID Metadata Documents). Anyone can name an address here before
 * logging in, so private networks are refused whatever `MCP_AGGREGATOR_EGRESS` says; exceptions are those of
 * `MCP_AGGREGATOR_EGRESS_ALLOW`.
 */
@Injectable()
export class ClientDocuments {
  private readonly egress: Egress;
  /** Certificate authorities of tests. */
  trustedAuthorities: string | undefined;

  constructor(env: Env) {
    this.egress = new Egress({ ...egressPolicy(env), mode: 'public' });
  }

  mayFetch(address: string): boolean {
    return (
      URL.canParse(address) && this.egress.hostProblem(new URL(address).hostname) === undefined
    );
  }

  async fetch(address: string): Promise<Response> {
    const undici = await import('undici');
    const ca = this.trustedAuthorities;
    const agent = await this.egress.agent({
      minVersion: 'TLSv1.2',
      timeout: REQUEST_MS,
      ...(ca !== undefined && { ca }),
    });
    try {
      const answer = await undici.fetch(address, {
        headers: { accept: 'application/json' },
        redirect: 'manual',
        dispatcher: agent,
        signal: AbortSignal.timeout(REQUEST_MS),
      });
      const text = await boundedText(answer.body, new URL(address).host, MAX_BYTES);
      const caching = ['cache-control', 'expires'].flatMap((name): [string, string][] => {
        const value = answer.headers.get(name);
        return value === null ? [] : [[name, value]];
      });
      // `Response` takes no status below 200.
      return new Response(answer.status === 200 ? text : null, {
        status: answer.status === 200 ? 200 : 502,
        headers: caching,
      });
    } finally {
      await agent.destroy();
    }
  }
}
