import { Injectable, Logger } from '@nestjs/common';
import { LruMap } from '@app/access';
import { boundedText, Clock, Egress, isJsonObject } from '@app/platform';
import { cleanRegistration } from './client-requests.js';

const MAX_BYTES = 16_384;
const REQUEST_MS = 5_000;
const MAX_AT_ONCE = 8;
const FAILURE_REMEMBERED_MS = 60_000;
const MAX_FAILURES = 1_000;
/** Fetches that one address may cause in a minute, whichever endpoint it asks; known documents cost none. */
const MAX_OF_ADDRESS = 60;
const MINUTE_MS = 60_000;
const MAX_ADDRESSES = 10_000;
const NOWHERE = { ranges: [], hosts: [] };

/**
 * Fetches the metadata that clients publish (Client ID Metadata Documents). Anyone can name an address here before
 * logging in, so private networks are refused whatever `MCP_AGGREGATOR_EGRESS` says; `MCP_AGGREGATOR_EGRESS_ALLOW`
 * is for the servers of administrators and does not count.
 */
@Injectable()
export class ClientDocuments {
  private readonly logger = new Logger('oauth');
  private egress = new Egress({ mode: 'public', allow: NOWHERE });
  private authorities: string | undefined;
  private requestMs = REQUEST_MS;
  private running = 0;
  /** Until when, monotonic. */
  private readonly failed = new LruMap<number>(MAX_FAILURES);
  private counts = new LruMap<number>(MAX_ADDRESSES);
  private countsSince = 0;

  constructor(private readonly clock: Clock) {}

  /** For tests, whose clients are on this machine, which may be slow. */
  trust(host: string, authorities: string, requestMs = REQUEST_MS): void {
    this.requestMs = requestMs;
    this.egress = new Egress({ mode: 'public', allow: { ranges: [], hosts: [host] } });
    this.authorities = authorities;
  }

  mayFetch(address: string, forAddress: string): boolean {
    if (!URL.canParse(address)) return false;
    if (this.egress.hostProblem(new URL(address).hostname) !== undefined) return false;
    if ((this.failed.get(address) ?? 0) > this.clock.monotonic()) return false;
    return this.count(forAddress) <= MAX_OF_ADDRESS;
  }

  async fetch(address: string, signal?: AbortSignal | null): Promise<Response> {
    if (this.running >= MAX_AT_ONCE) throw new Error('too many documents are being fetched');
    this.running += 1;
    try {
      return await this.read(address, signal);
    } catch (error) {
      this.failed.set(address, this.clock.monotonic() + FAILURE_REMEMBERED_MS);
      this.logger.warn({ err: error, host: new URL(address).host }, 'oauth.document_refused');
      throw error;
    } finally {
      this.running -= 1;
    }
  }

  private async read(address: string, signal?: AbortSignal | null): Promise<Response> {
    const undici = await import('undici');
    const agent = await this.egress.agent({
      minVersion: 'TLSv1.2',
      timeout: this.requestMs,
      ...(this.authorities !== undefined && { ca: this.authorities }),
    });
    const late = AbortSignal.timeout(this.requestMs);
    try {
      const answer = await undici.fetch(address, {
        headers: { accept: 'application/json' },
        redirect: 'manual',
        dispatcher: agent,
        signal: signal ? AbortSignal.any([signal, late]) : late,
      });
      if (answer.status !== 200) throw new Error(`the answer has the status ${answer.status}`);
      const type = answer.headers.get('content-type') ?? '';
      // A host that shows files of its users could otherwise be named by one of them.
      if (!/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type)) {
        throw new Error('the document is not sent as application/json');
      }
      const text = await boundedText(answer.body, new URL(address).host, MAX_BYTES);
      const caching = ['cache-control', 'expires'].flatMap((name): [string, string][] => {
        const value = answer.headers.get(name);
        return value === null ? [] : [[name, value]];
      });
      return new Response(JSON.stringify(cleanDocument(text)), { headers: caching });
    } finally {
      await agent.destroy();
    }
  }

  private count(address: string): number {
    const now = this.clock.monotonic();
    if (now - this.countsSince >= MINUTE_MS) {
      this.counts = new LruMap(MAX_ADDRESSES);
      this.countsSince = now;
    }
    const count = (this.counts.get(address) ?? 0) + 1;
    this.counts.set(address, count);
    return count;
  }
}

/** A document is a registration that also names itself; nothing else of it counts. */
function cleanDocument(text: string): object {
  const document: unknown = JSON.parse(text);
  const { client, ...refused } = cleanRegistration(document);
  if (!client) throw new Error('problem' in refused ? refused.problem : 'the document is unusable');
  return { client_id: isJsonObject(document) ? (document['client_id'] ?? null) : null, ...client };
}
