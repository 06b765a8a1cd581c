import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as TlsAgent, request as httpsRequest } from 'node:https';
import { PASS_SCHEME, type PassedRequest, Passes } from './passes.js';
import type { Peer } from './peers.js';
import { tlsName } from './replica-url.js';

export interface PeerRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** In whose name. */
  readonly principal: PassedRequest['principal'];
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** Requests of this replica to another one, which trusts what it says of the principal. */
@Injectable()
export class PeerRequests implements OnApplicationShutdown {
  private readonly agent = new Agent({ keepAlive: true });
  private readonly tlsAgent = new TlsAgent({ keepAlive: true });

  constructor(private readonly passes: Passes) {}

  onApplicationShutdown(): void {
    this.agent.destroy();
    this.tlsAgent.destroy();
  }

  /** Resolves with the answer as soon as its headers are there, whatever its status. */
  send(
    to: Peer,
    { method, path, principal, headers, body, signal }: PeerRequest,
  ): Promise<IncomingMessage> {
    const url = new URL(path, to.url);
    const isTls = url.protocol === 'https:';
    const requestId = randomUUID();
    const pass = this.passes.issue(to.id, { method, path, principal, ip: null, requestId });
    return new Promise((resolve, reject) => {
      const outgoing = (isTls ? httpsRequest : httpRequest)(url, {
        method,
        path,
        signal,
        agent: isTls ? this.tlsAgent : this.agent,
        ...(isTls && { servername: tlsName(url) }),
        headers: {
          ...headers,
          authorization: `${PASS_SCHEME} ${pass}`,
          ...(body !== undefined && {
            'content-type': 'application/json',
            'content-length': String(Buffer.byteLength(body)),
          }),
        },
      });
      outgoing.on('error', reject);
      outgoing.on('response', resolve);
      outgoing.end(body);
    });
  }
}

/** The whole body of an answer of another replica. */
export async function textOf(answer: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer) {
    if (!Buffer.isBuffer(chunk)) continue;
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error('its answer is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
