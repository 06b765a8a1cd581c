import { Inject, Injectable } from '@nestjs/common';
import {
  ConnectFailed,
  ConnectionLost,
  type ConnectOptions,
  connectUpstream,
  type UpstreamSession,
} from '@app/mcp-client';
import {
  Egress,
  Env,
  LOCAL_EGRESS,
  PASS_SCHEME,
  type Peer,
  PeerPulse,
  Peers,
  Passes,
} from '@app/platform';
import type { Person } from '@app/access';
import { randomUUID } from 'node:crypto';
import { PASSED_PATH } from './passed-request.js';
import { PassedSession } from './passed-session.js';

/** The service itself asks, such as for the capabilities of the server; users are named in each request. */
const SENDER = {
  principal: { name: 'system', scopes: ['call'] as const, subjects: [] },
  ip: null,
};

/** Then the leader is looked up again. */
const LOOK_MS = 500;

/** Opens sessions to servers that run at another replica. */
@Injectable()
export class ReplicaConnector {
  /** Replicas reach each other in a network where servers may be forbidden. */
  private readonly egress = new Egress(LOCAL_EGRESS);

  constructor(
    private readonly passes: Passes,
    private readonly peers: Peers,
    private readonly pulse: PeerPulse,
    @Inject(Env) private readonly env: Env,
  ) {}

  async connect(
    peer: Peer,
    serverId: string,
    options: Pick<
      ConnectOptions,
      'deploymentId' | 'receiving' | 'listing' | 'signal' | 'clientInfo' | 'clientCapabilities'
    >,
    person?: Person,
  ): Promise<PassedSession> {
    const { id, url } = peer;
    await this.reach(peer, options.signal);
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
    if (session.era === 'modern') return this.passed(session, peer);
    await session.close({ force: true });
    throw new ConnectFailed('the replica that leads does not take requests of others');
  }

  /** Not to one that stands still: the attempt would last for longer than another takes to lead. */
  private async reach(peer: Peer, signal: AbortSignal | undefined): Promise<void> {
    const pulse = await this.pulse.of(peer, LOOK_MS, signal ?? new AbortController().signal);
    if (pulse === 'answers') return;
    const reason = 'the replica that leads does not answer';
    throw new ConnectFailed(reason, new ConnectionLost(reason, 'no'));
  }

  private passed(inner: UpstreamSession, peer: Peer): PassedSession {
    const { peers, pulse } = this;
    const session = new PassedSession(inner, peer.id, peers.self, {
      isAwake: () => peers.isAwake(peer.id),
      waitUntilAwake: (withinMs, signal) => pulse.of(peer, withinMs, signal),
      heard: () => peers.heard(peer.id),
    });
    const unhear = peers.onGone((id) => {
      if (id === peer.id) session.abandon();
    });
    void inner.closed.then(unhear);
    return session;
  }
}
