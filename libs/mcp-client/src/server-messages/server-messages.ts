import { Logger } from '@nestjs/common';
import type { CancelSignal, JsonObject } from '@app/platform';
import { idIn, type RpcId, type RpcMessage, type RpcRequest } from '@app/mcp-protocol';
import { CallerTurns } from './caller-turns.js';
import { type Call, type PendingCalls, turnOf } from '../session/calls/pending-calls.js';
import { isListChange, ListChanges } from './list-changes.js';
import { RateLimit } from './rate-limit.js';
import { ServedRequests } from './served-requests.js';
import { SessionUsers } from './session-users.js';
import { ToldRoots } from './told-roots.js';
import type {
  NotificationHandler,
  RequestCaller,
  RequestOptions,
  RootsProvider,
  ServerRequestHandler,
} from '../upstream.js';

/** Per call, and once for all messages that belong to no call. */
const MAX_NOTIFICATIONS_PER_SECOND = 1_000;
const MAX_LOG_LINE_BYTES = 2_000;
const NONE: Awaited<ReturnType<RootsProvider>> = { result: { roots: [] } };

export interface SessionPort {
  send(answer: RpcMessage): Promise<void>;
  announceRoots(): void;
  ping(): Promise<unknown>;
  giveUp(reason: string): void;
  /** The first question that names no call has come. */
  callersAsked(): void;
  log(line: string): void;
}

/**
 * Routes the notifications and requests of a server. A message goes to the call of its exchange or progress token;
 * without either, to the one client that is being served. What cannot be attributed to a user reaches no user: a
 * request is refused, a log message only goes to the log of the server (contract R51).
 */
export class ServerMessages {
  readonly users = new SessionUsers();
  private readonly logger = new Logger(ServerMessages.name);
  private readonly handlers = new Set<NotificationHandler>();
  private readonly rate = new RateLimit(MAX_NOTIFICATIONS_PER_SECOND);
  private readonly listChanges = new ListChanges((method, params) =>
    this.tell(method, params, undefined),
  );
  private readonly served: ServedRequests;
  private readonly roots: ToldRoots;
  private turns: CallerTurns | undefined;
  private rootsProvider: RootsProvider | undefined;

  constructor(
    private readonly calls: PendingCalls,
    private readonly session: SessionPort,
    private asksCallers = false,
  ) {
    this.served = new ServedRequests(
      (answer) => session.send(answer),
      (line) => session.log(line),
    );
    this.roots = new ToldRoots(
      () => session.announceRoots(),
      () => session.ping(),
      (reason) => session.giveUp(reason),
    );
    if (asksCallers) this.serveOneClientAtATime();
  }

  onNotification(handler: NotificationHandler): () => void {
    this.handlers.add(handler);
    return () => this.handlers.delete(handler);
  }

  setRootsProvider(provider: RootsProvider): void {
    this.rootsProvider = provider;
  }

  /** Sends a request of a caller as soon as messages of the server can be attributed to that caller. */
  async admit<T>(
    caller: RequestCaller,
    options: RequestOptions,
    send: (options: RequestOptions) => Promise<T>,
  ): Promise<T> {
    const startedAt = performance.now();
    const sendNow = (): Promise<T> => {
      const waitedMs = performance.now() - startedAt;
      return send({ ...options, timeoutMs: Math.max(1, options.timeoutMs - waitedMs) });
    };
    const clear = (): Promise<void> | undefined => this.roots.admit(caller.principal);
    if (!this.turns) await clear();
    // `turns` may be set by now; then `prepare` checks the roots once more when the turn of this call comes.
    if (!this.turns) return sendNow();
    const patience = { withinMs: options.timeoutMs, signal: options.signal };
    const { principal } = caller;
    const turn = turnOf({ ...options, caller }) ?? caller.client;
    return this.turns.enter({ principal, turn }, patience, { prepare: clear, start: sendNow });
  }

  /** Whether a request of this caller can be sent at once; if not, starts to withdraw the roots of another caller. */
  isFreeFor(caller: RequestCaller): boolean {
    return !this.turns && this.roots.admit(caller.principal) === undefined;
  }

  /** `during` is the request in whose exchange the message came; undefined on a shared stream. */
  question(message: RpcRequest, during: RpcId | undefined): void {
    if (during !== undefined) {
      const call = this.calls.get(during);
      void this.served.serve(message, call?.options.onServerRequest, call);
      return;
    }
    const call = this.onlyCall();
    if (message.method === 'roots/list') {
      void this.serveRoots(message, call);
      return;
    }
    if (message.method !== 'ping' && this.calls.hasCallers()) this.callersAsked();
    void this.served.serve(message, call?.options.onServerRequest, call);
  }

  notification(method: string, params: JsonObject, during: RpcId | undefined): void {
    if (method === 'notifications/progress') return this.progress(params, during);
    if (isListChange(method)) return this.listChanges.note(method, params);
    const call = during === undefined ? undefined : this.calls.get(during);
    if (!this.allows(call)) return;
    if (method === 'notifications/cancelled') {
      const id = idIn(params, 'requestId');
      if (id !== undefined) this.served.cancel(id);
      return;
    }
    if (method === 'notifications/message') return this.logMessage(params, during, call);
    this.tell(method, params, undefined);
  }

  /** The server may work on it for as long as it was allowed to, unless it answers before. */
  noteGivenUp({ id, options: { caller, timeoutMs, maxTotalMs = timeoutMs } }: Call): void {
    if (caller) this.users.leaveBehind(id, caller.principal, maxTotalMs);
  }

  close(): void {
    this.listChanges.close();
    this.served.cancelAll();
  }

  /** The token is one of our ids; within an exchange it has to be that of its own request. */
  private progress(params: JsonObject, during: RpcId | undefined): void {
    const token = params['progressToken'];
    if (typeof token !== 'number' || (during !== undefined && during !== token)) return;
    const call = this.calls.get(token);
    if (!call?.options.onProgress || !this.allows(call)) return;
    this.calls.extend(token);
    this.guard(() => call.options.onProgress?.(params));
  }

  private logMessage(params: JsonObject, during: RpcId | undefined, bound: Call | undefined): void {
    const { only } = this.users;
    const call = during === undefined && typeof only === 'string' ? this.onlyCall() : bound;
    const { onLog } = call?.options ?? {};
    if (onLog) return this.guard(() => onLog(params));
    this.session.log(logLine(params));
    if (during === undefined && typeof only === 'string') {
      this.tell('notifications/message', params, only);
    }
  }

  /** The call that a message outside of any exchange belongs to, if only one client can have caused it. */
  private onlyCall(): Call | undefined {
    const call = this.calls.ofOnlyClient();
    const principal = call?.options.caller?.principal;
    return principal !== undefined && !this.users.hasLeftOver(principal) ? call : undefined;
  }

  /** Answers `roots/list` outside of any exchange; the server may keep the roots for later callers. */
  private async serveRoots(message: RpcRequest, call: Call | undefined): Promise<void> {
    let given: Awaited<ReturnType<RootsProvider>> = NONE;
    const isAskedAgain = this.roots.isClearing;
    const answer: ServerRequestHandler = async (_method, _params, signal) => {
      const found = await this.rootsFor(call, signal);
      // The roots were withdrawn meanwhile, or another user began to use the session.
      const isLate =
        this.roots.isClearing || (call ? this.runsBesideOthers(call) : this.users.only === null);
      given = isLate ? NONE : found;
      // Record this before sending: the next call of another user has to find the roots recorded.
      const areTold = this.roots.told(given.result, given.principal);
      // The server may send this for one caller while it should forget the roots of another.
      if (areTold && call && this.users.only === null) this.serveOneClientAtATime();
      return given.result;
    };
    await this.served.serve(message, answer, call);
    if (isAskedAgain) this.roots.cleared(given.result);
  }

  private runsBesideOthers({ options: { caller } }: Call): boolean {
    return caller !== undefined && this.calls.hasOthersThan(caller.client);
  }

  private async rootsFor(
    call: Call | undefined,
    signal: CancelSignal,
  ): Promise<Awaited<ReturnType<RootsProvider>>> {
    const { onServerRequest, caller } = call?.options ?? {};
    if (!onServerRequest) return (await this.rootsProvider?.(this.users.only)) ?? NONE;
    const result = await onServerRequest('roots/list', {}, signal);
    return { result, principal: caller?.principal };
  }

  private callersAsked(): void {
    this.serveOneClientAtATime();
    if (this.asksCallers) return;
    this.asksCallers = true;
    this.guard(() => this.session.callersAsked());
  }

  private serveOneClientAtATime(): void {
    if (this.turns) return;
    const turns = new CallerTurns((turn) => this.calls.hasOtherTurnsThan(turn));
    this.turns = turns;
    this.calls.onEnded = () => turns.next();
    this.calls.isWaitedFor = () => turns.isWaitedFor;
  }

  private allows(call: Call | undefined): boolean {
    if (!call) return this.rate.allows(performance.now());
    call.notificationRate ??= new RateLimit(MAX_NOTIFICATIONS_PER_SECOND);
    return call.notificationRate.allows(performance.now());
  }

  private tell(method: string, params: JsonObject, user: string | undefined): void {
    for (const handler of this.handlers) this.guard(() => handler(method, params, user));
  }

  /** Runs while bytes are read: an error of a handler must not end the connection. */
  private guard(handle: () => void): void {
    try {
      handle();
    } catch (error) {
      this.logger.error({ err: error }, 'server_message.handler_failed');
    }
  }
}

function logLine({ level, logger, data }: JsonObject): string {
  const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
  const from = typeof logger === 'string' ? `${logger}: ` : '';
  const line = Buffer.from(`[${typeof level === 'string' ? level : 'log'}] ${from}${text}`);
  // Decoded from bytes, so that the line is not a slice that keeps the long text in memory.
  return line.toString('utf8', 0, MAX_LOG_LINE_BYTES);
}
