import { Inject, Injectable } from '@nestjs/common';
import {
  ConnectFailed,
  type ConnectOptions,
  connectUpstream,
  type UpstreamSession,
} from '@app/mcp-client';
import { Egress, Env, LOCAL_EGRESS, PASS_SCHEME, type Peer, Peers, Passes } from '@app/platform';
import type { Person } from '@app/access';
import { randomUUID } from 'node:crypto';
import { PASSED_PATH } from './passed-request.js';
import { PassedSession } from './passed-session.js';

/** The service itself asks, such as for the capabilities of the server; users are named in each request. */
const SENDER = {
  principal: { name: 'system', scopes: ['call'] as const, subjects: [] },
  ip: null,
};

/** Opens sessions to servers that run at another replica. */
@Injectable()
export class ReplicaConnector {
  /** Replicas reach each other in a network where servers may be forbidden. */
  private readonly egress = new Egress(LOCAL_EGRESS);

  constructor(
    private readonly passes: Passes,
    private readonly peers: Peers,
    @Inject(Env) private readonly env: Env,
  ) {}

  async connect(
    { id, url }: Peer,
    serverId: string,
    options: Pick<
      ConnectOptions,
      'deploymentId' | 'receiving' | 'listing' | 'signal' | 'clientInfo' | 'clientCapabilities'
    >,
    person?: Person,
  ): Promise<PassedSession> {
    const path = PASSED_PATH + serverId;
    const principal = person ? { ...SENDER.principal, ...person } : SENDER.principal;
    const pass = { ...SENDER, principal, method: 'POST', path };
    const authorization = (): string =>
      `${PASS_SCHEME} ${this.passes.issue(id, { ...pass, requestId: randomUUID() })}`;
    const target = {
      kind: 'HTTP' as const,
      url: url + path,
      headers: {},
      headersOfRequest: () => ({ authorization: authorization() }),
    };
    const session = await connectUpstream(target, {
      ...options,
      connectTimeoutMs: this.env.MCP_AGGREGATOR_CONNECTION_TIMEOUT * 1_000,
      maxAnswerBytes: this.env.MCP_AGGREGATOR_MAX_ANSWER_BYTES,
      maxListBytes: this.env.MCP_AGGREGATOR_MAX_LIST_BYTES,
      allowInsecureHttp: true,
      egress: this.egress,
      priorEra: 'modern',
    });
    if (session.era === 'modern') return this.passed(session, id);
    await session.close({ force: true });
    throw new ConnectFailed('the replica that leads does not take requests of others');
  }

  private passed(inner: UpstreamSession, replicaId: string): PassedSession {
    const session = new PassedSession(inner, replicaId, this.peers.self);
    const unhear = this.peers.onGone((id) => {
      if (id === replicaId) session.abandon();
    });
    void inner.closed.then(unhear);
    return session;
  }
}
