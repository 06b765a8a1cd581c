import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import {
  Agent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as httpRequest,
  type ServerResponse,
} from 'node:http';
import { Agent as TlsAgent, request as httpsRequest } from 'node:https';
import { errorCode } from '../errors/error-code.js';
import { CALLER_TOKEN_HEADER, PASS_SCHEME, type PassedRequest, Passes } from './passes.js';
import { PeerPulse } from './peer-pulse.js';
import { type Peer, Peers } from './peers.js';
import { tlsName } from './replica-url.js';

/** Of one connection only (RFC 9110 §7.6.1), or credentials, which the pass replaces. */
const NOT_PASSED = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'authorization',
  'cookie',
  CALLER_TOKEN_HEADER,
]);

/** After a replica is gone. */
const LAST_ANSWERS_MS = 1_000;
/** For a replica that does not answer to be seen to be gone, and then some. */
const AWAKE_WITHIN_MS = 10_000;

/**
 * `gone`: nothing was sent, or the replica accepts none of our requests. `unknown`: the request was sent, and its
 * answer did not begin.
 */
export type PassFailure = 'gone' | 'unknown';

export interface ToPass {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly sender: Omit<PassedRequest, 'method' | 'path'>;
  /** Sealed for the other replica. */
  readonly callerToken?: string | undefined;
  /** Whether the sender may not have the answer any more, by what only this replica knows of its token. */
  readonly isOver?: (() => boolean) | undefined;
  /** What was read of the body already; otherwise it is streamed. */
  readonly body?: Buffer;
}

/** A request whose replica has not answered yet. */
interface Held {
  readonly isStanding: boolean;
  readonly response: ServerResponse;
  readonly ended: AbortController;
}

type Failed = (failure: PassFailure, to: Peer) => void;

interface Passed {
  readonly to: string;
  readonly isStanding: boolean;
  readonly isOver: (() => boolean) | undefined;
  readonly response: ServerResponse;
  readonly outgoing: ClientRequest;
}

/**
 * Passes requests on to the replica that owns what they are about, and streams the answers back; neither is parsed or
 * kept, beyond the buffers of the two connections. A request that was passed on to this replica is never passed on.
 */
@Injectable()
export class PassingOn implements OnApplicationShutdown {
  private readonly logger = new Logger(PassingOn.name);
  private readonly agent = new Agent({ keepAlive: true });
  private readonly tlsAgent = new TlsAgent({ keepAlive: true });
  private readonly running = new Set<Passed>();
  private readonly held = new Set<Held>();

  constructor(
    private readonly peers: Peers,
    private readonly passes: Passes,
    private readonly pulse: PeerPulse,
  ) {
    peers.onGone((id) => this.abandonLater(id));
  }

  /** Open responses that end only with their client or a service. */
  get standingStreams(): number {
    let count = 0;
    for (const { isStanding } of this.running) if (isStanding) count += 1;
    for (const { isStanding } of this.held) if (isStanding) count += 1;
    return count;
  }

  /** Ends the streams that would stay open: their clients open them again elsewhere. */
  endStanding(): void {
    for (const { isStanding, outgoing, response } of this.running) {
      if (!isStanding) continue;
      outgoing.destroy();
      response.end();
    }
    for (const { isStanding, response } of this.held) if (isStanding) response.end();
  }

  /** Ends the streams whose clients need another token. */
  endOver(): void {
    for (const { isStanding, isOver, outgoing, response } of this.running) {
      if (!isStanding || isOver?.() !== true) continue;
      outgoing.destroy();
      response.end();
    }
  }

  onApplicationShutdown(): void {
    for (const { ended } of this.held) ended.abort();
    for (const { outgoing } of this.running) outgoing.destroy();
    this.agent.destroy();
    this.tlsAgent.destroy();
  }

  /** Calls `fail` when there is no answer to send back, at most once. */
  pass(to: Peer, exchange: ToPass, fail: Failed): void {
    if (this.peers.isAwake(to.id)) this.send(to, exchange, fail);
    else void this.sendWhenAwake(to, exchange, fail);
  }

  /** Nothing is sent to a replica that stands still, so that its clients begin again elsewhere when it is gone. */
  private async sendWhenAwake(to: Peer, exchange: ToPass, fail: Failed): Promise<void> {
    const { request, response } = exchange;
    const ended = new AbortController();
    const held = { isStanding: request.method === 'GET', response, ended };
    this.held.add(held);
    const end = (): void => ended.abort();
    response.once('close', end);
    const ungone = this.peers.onGone((id) => {
      if (id === to.id) end();
    });
    const pulse = await this.pulse.of(to, AWAKE_WITHIN_MS, ended.signal);
    this.held.delete(held);
    response.off('close', end);
    ungone();
    if (response.destroyed || response.writableEnded) return;
    if (pulse === 'answers') return this.send(to, exchange, fail);
    this.logger.warn({ replica: to.id, url: to.url, reason: pulse }, 'replica.not_reached');
    fail('gone', to);
  }

  private send(to: Peer, exchange: ToPass, fail: Failed): void {
    const { request, response, callerToken, isOver } = exchange;
    const { method = 'GET' } = request;
    const path = pathOf(request);
    const url = new URL(to.url);
    const isTls = url.protocol === 'https:';
    const headers = {
      ...withoutHops(request.headers),
      authorization: `${PASS_SCHEME} ${this.passes.issue(to.id, { ...exchange.sender, method, path })}`,
      ...(callerToken !== undefined && { [CALLER_TOKEN_HEADER]: callerToken }),
      ...(exchange.body && { 'content-length': String(exchange.body.length) }),
    };
    const outgoing = (isTls ? httpsRequest : httpRequest)(url, {
      method,
      path,
      headers,
      agent: isTls ? this.tlsAgent : this.agent,
      ...(isTls && { servername: tlsName(url) }),
    });
    const isStanding = method === 'GET';
    const passed: Passed = { to: to.id, isStanding, isOver, response, outgoing };
    this.running.add(passed);
    let isSent = false;
    let hasEnded = false;
    const over = (failure?: PassFailure): void => {
      this.running.delete(passed);
      if (hasEnded) return;
      hasEnded = true;
      if (failure && !response.headersSent && !response.destroyed) fail(failure, to);
    };
    outgoing.on('socket', (socket) => {
      if (!socket.connecting) isSent = true;
      else socket.once(isTls ? 'secureConnect' : 'connect', () => (isSent = true));
    });
    outgoing.on('error', (error) => {
      const failure = isSent ? 'unknown' : 'gone';
      if (!response.destroyed && !hasEnded) {
        const reason = errorCode(error) ?? 'the connection broke';
        this.logger.warn({ replica: to.id, url: to.url, reason }, 'replica.not_reached');
      }
      over(failure);
    });
    outgoing.on('response', (answer) => {
      if (answer.statusCode === 409) {
        answer.resume();
        return over('gone');
      }
      // Its sender was authenticated here: it is the pass that was refused.
      if (answer.statusCode === 401) {
        const hint = 'all replicas need the same MCP_CREDENTIAL_KEY';
        this.logger.error({ replica: to.id, url: to.url, hint }, 'replica.pass_refused');
        answer.resume();
        return over('gone');
      }
      // Those above are of a proxy before it, as a rule.
      if ((answer.statusCode ?? 502) < 500) this.peers.heard(to.id);
      answerWith(answer, response, () => over());
    });
    response.once('close', () => {
      outgoing.destroy();
      over();
    });
    if (exchange.body) outgoing.end(exchange.body);
    else request.pipe(outgoing);
  }

  /** A replica that has left still answers what is on its way, and one that is back answers all. */
  private abandonLater(id: string): void {
    const pending = [...this.running].filter(({ to }) => to === id);
    if (pending.length === 0) return;
    const abandon = (): void => {
      for (const passed of pending) {
        if (this.running.has(passed)) passed.outgoing.destroy(new Error('the replica is gone'));
      }
    };
    setTimeout(abandon, LAST_ANSWERS_MS).unref();
  }
}

/** A client may send a whole URL (RFC 9112 §3.2.2), whose host must not become that of the replica. */
function pathOf({ url = '/' }: IncomingMessage): string {
  if (url.startsWith('/')) return url;
  if (!URL.canParse(url)) return '/';
  const { pathname, search } = new URL(url);
  return pathname + search;
}

function answerWith(answer: IncomingMessage, response: ServerResponse, over: () => void): void {
  const headers: string[] = [];
  for (let at = 0; at + 1 < answer.rawHeaders.length; at += 2) {
    const [name = '', value = ''] = answer.rawHeaders.slice(at, at + 2);
    if (!NOT_PASSED.has(name.toLowerCase())) headers.push(name, value);
  }
  response.writeHead(answer.statusCode ?? 502, headers);
  // Streams begin with silence.
  response.flushHeaders();
  answer.on('error', () => response.destroy());
  answer.on('end', over);
  answer.pipe(response);
}

function withoutHops(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !NOT_PASSED.has(name)));
}
