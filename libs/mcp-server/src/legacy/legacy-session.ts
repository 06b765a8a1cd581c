import {
  UnhashedSet,
  isJsonObject,
  type JsonObject,
  type SharedBytes,
  RawJsonObject,
} from '@app/platform';
import {
  admits,
  isLogLevel,
  type LogLevel,
  type ReceivedResponse,
  rpcCode,
  RpcError,
  type RpcId,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
  type RpcResult,
} from '@app/mcp-protocol';
import { randomUUID } from 'node:crypto';
import type { ClientInfo } from '../clients/connected-client.js';
import { beginRequest, failedIn } from '../endpoint/request-span.js';
import type { Receiver } from '../stream/audiences.js';
import { ClientQuestions } from './client-questions.js';
import { type EndReason, interruption, refusal } from '../endpoint/interruption.js';
import type { ClientResponse } from '../endpoint/client-response.js';
import { RunningCall } from './running-call.js';
import type { EndpointDependencies } from '../endpoint-dependencies.js';
import type { SseStream } from '../stream/sse-stream.js';
import { StandingStreams } from './standing-streams.js';
import { newSessionId } from '../owners.js';
import { readEventId, StreamLog } from '../stream/stream-log.js';
import { Subscriptions } from '../stream/subscriptions.js';
import {
  type Caller,
  type ClientCall,
  type McpClient,
  type McpSurface,
  resourceUpdated,
  type RootsOffer,
  type ServerChange,
} from '../surface.js';

/** For server requests outside a call: programs answer them, not people. */
const ANSWER_WITHIN_MS = 10_000;

/** The state of one client after its handshake: running calls, open server requests, streams. */
export class LegacySession implements McpClient, Receiver {
  readonly id: string;
  /** For operators: the id of the session itself is a secret. */
  readonly publicId = randomUUID();
  readonly era = 'legacy';
  logLevel: LogLevel | undefined;
  private readonly running = new UnhashedSet<RunningCall>();
  private readonly questions: ClientQuestions;
  private readonly standing = new StandingStreams();
  /** Replay log of the standing streams; also records while no stream is open. */
  private standingLog: StreamLog | undefined;
  /** Replay logs of resumable streams, by stream number. */
  private readonly streams = new Map<number, StreamLog>();
  private lastStream = 0;
  private readonly subscriptions: Subscriptions;
  private readonly leaveAudience: () => void;
  private roots: RootsOffer | undefined;
  private ended: EndReason | undefined;
  private toolCalls = 0;

  constructor(
    readonly view: McpSurface,
    readonly caller: Caller,
    readonly capabilities: JsonObject,
    private readonly deps: EndpointDependencies,
    readonly version?: string,
    readonly info?: ClientInfo,
  ) {
    this.id = newSessionId(deps.cluster);
    this.questions = new ClientQuestions(capabilities);
    this.subscriptions = new Subscriptions(view, caller.name, deps.subscriptions, (uri) =>
      this.sendStanding({ jsonrpc: '2.0', ...resourceUpdated(uri) }),
    );
    this.leaveAudience = deps.audiences.join(view, this);
  }

  get isIdle(): boolean {
    return this.running.size === 0 && this.standing.size === 0;
  }

  get runningCalls(): number {
    return this.running.size;
  }

  get standingStreams(): number {
    return this.standing.size;
  }

  /** Tool calls since it was opened. */
  get calls(): number {
    return this.toolCalls;
  }

  get subscribed(): number {
    return this.subscriptions.uris.length;
  }

  async handle(request: RpcRequest, response: ClientResponse): Promise<void> {
    const call = new RunningCall(request, this, this.questions, response);
    const { method, params = {} } = request;
    if (this.ended) return call.interrupt(refusal(this.ended, method));
    if (method === 'tools/call') this.toolCalls += 1;
    this.running.add(call);
    const answer = await this.answerTo(call, method, params);
    this.running.remove(call);
    // Withdraw the questions of this call that the client has not answered.
    if (this.questions.size > 0) call.abort(new Error('the call has ended'));
    call.settle(answer);
  }

  cancel(id: RpcId): void {
    for (const call of this.running)
      if (call.id === id) call.abort(new Error('cancelled by the client'));
  }

  /** The client's answer to one of our requests. */
  settle(response: ReceivedResponse): void {
    this.questions.settle(response);
  }

  /** Records what a stream carries, so that the client can resume it. */
  record(stream: SseStream): StreamLog {
    const name = ++this.lastStream;
    const { kept } = this.deps;
    const gone = (): boolean => this.streams.delete(name);
    const log = new StreamLog(this.caller.name, name, kept, stream, gone);
    if (this.ended) log.discard();
    else this.streams.set(name, log);
    return log;
  }

  /** Resumes the stream of the event. False when later events are no longer kept. */
  resume(eventId: string, stream: SseStream): boolean {
    const seen = readEventId(eventId);
    const log = seen && this.streams.get(seen.name);
    if (!log || !log.reaches(seen.number)) return false;
    log.continueOn(stream, seen.number);
    return log !== this.standingLog;
  }

  /** Adds a standing stream; the returned function removes it. */
  stand(stream: SseStream): () => void {
    if (this.standing.add(stream)) this.deps.limits?.note('standing_streams', this.caller.name);
    if (this.standingLog) this.standingLog.moveTo(stream);
    else this.standingLog = this.record(stream);
    if (this.standing.size === 1) this.announceRoots();
    return () => {
      this.standing.remove(stream);
      this.standingLog?.moveTo(this.standing.newestOpen);
    };
  }

  /** A client with a newer token opens others. */
  endStreams(): void {
    this.standing.endAll();
    this.standingLog?.moveTo(undefined);
  }

  /** Called when the client can answer `roots/list`, and on its `roots/list_changed`. */
  announceRoots(): void {
    if (this.roots) return this.roots.changed();
    if (!isJsonObject(this.capabilities['roots']) || this.standing.size === 0) return;
    this.roots = this.view.offerRoots?.({
      caller: this.caller,
      roots: () => this.askStanding('roots/list', {}),
    });
  }

  hears(change: ServerChange): boolean {
    if (!this.standingLog) return false;
    if (change.kind !== 'log') return true;
    return change.user === this.caller.subject && admits(this.logLevel, change.params['level']);
  }

  receive(_change: ServerChange, written: SharedBytes): void {
    this.standingLog?.sendBytes(written);
  }

  tell(method: string, params: JsonObject): void {
    this.sendStanding({ jsonrpc: '2.0', method, params });
  }

  interruptCalls(reason: EndReason): void {
    for (const call of this.running) call.interrupt(interruption(reason, call.method));
  }

  close(reason: EndReason): void {
    this.ended = reason;
    this.leaveAudience();
    this.roots?.release();
    this.subscriptions.close();
    this.interruptCalls(reason);
    this.questions.failAll(new Error('the session has ended'));
    this.standing.endAll();
    for (const log of this.streams.values()) log.discard();
    this.streams.clear();
    this.view.forget?.(this);
  }

  /** Undefined when the call was cancelled meanwhile: its error is ignored then. */
  private async answerTo(
    call: RunningCall,
    method: string,
    params: JsonObject,
  ): Promise<RpcResponse | undefined> {
    const { id, signal } = call;
    const { tracing } = this.deps;
    const span = tracing && beginRequest(tracing, call.request, this, call.response.requestHeaders);
    call.span = span;
    try {
      const result = await this.resultOf(method, params, call);
      span?.succeed(result, signal);
      return signal.aborted ? undefined : { jsonrpc: '2.0', id, result: legacyResult(result) };
    } catch (error) {
      if (signal.aborted) {
        span?.cancel();
        return undefined;
      }
      return { jsonrpc: '2.0', id, error: failedIn(span, error, this.view).body };
    }
  }

  private async resultOf(method: string, params: JsonObject, call: ClientCall): Promise<RpcResult> {
    switch (method) {
      case 'ping':
        return {};
      case 'resources/subscribe': {
        const uri = uriOf(params);
        await this.subscriptions.add(uri);
        return {};
      }
      case 'resources/unsubscribe': {
        const uri = uriOf(params);
        this.subscriptions.remove(uri);
        return {};
      }
      case 'logging/setLevel': {
        const { level } = params;
        if (!isLogLevel(level)) throw new RpcError(rpcCode.invalidParams, 'unknown log level');
        this.logLevel = level;
        return this.view.handle(method, params, call);
      }
      default:
        return this.view.handle(method, params, call);
    }
  }

  /** Sends a request outside a call; fails without a standing stream, or when the answer takes too long. */
  private askStanding(method: string, params: JsonObject): Promise<JsonObject> {
    if (!this.standing.newestOpen) return Promise.reject(new Error('the client does not listen'));
    const late = AbortSignal.timeout(ANSWER_WITHIN_MS);
    return this.questions.ask(method, params, [late], (message) => this.sendStanding(message));
  }

  private sendStanding(message: RpcRequest | RpcNotification): void {
    this.standingLog?.send(message);
  }
}

/** `resultType` exists only since 2026-07-28; strip it for older clients. */
function legacyResult(result: RpcResult): RpcResult {
  if (result instanceof RawJsonObject) return result.without('resultType');
  const { resultType: _modern, ...rest } = result;
  return rest;
}

function uriOf(params: JsonObject): string {
  const uri = params['uri'];
  if (typeof uri !== 'string') throw new RpcError(rpcCode.invalidParams, 'uri must be a string');
  return uri;
}
