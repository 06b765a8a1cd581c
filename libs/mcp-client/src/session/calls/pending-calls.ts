import { HEAVY_BYTES, inOwnTurn, type RawJsonObject } from '@app/platform';
import type { RpcId } from '@app/mcp-protocol';
import { SlotTable } from './slot-table.js';
import type { RateLimit } from '../../server-messages/rate-limit.js';
import { RequestIds } from './request-ids.js';
import type { RequestOptions } from '../../upstream.js';
import { RequestCancelled, RequestTimedOut } from '../../upstream.errors.js';

/** Maximum total time of a call that reports progress, in multiples of its timeout, unless its caller sets one. */
export const PROGRESS_STRETCHES = 5;

/** While a call waits for its user longer than its timeout, calls of other clients may come that have to wait for it. */
const LOOK_AGAIN_MS = 1_000;

/** Sent by the service itself and never for a user: lists are read once for all. */
const OWN_METHODS: ReadonlySet<string> = new Set([
  'ping',
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
]);

export interface Call {
  readonly id: number;
  readonly method: string;
  readonly options: RequestOptions;
  /** On the clock of `performance.now()`. */
  readonly endsAt: number;
  readonly settle: {
    resolve(this: void, result: RawJsonObject): void;
    reject(this: void, error: Error): void;
  };
  readonly onAbort: (() => void) | undefined;
  timer: NodeJS.Timeout;
  /** Server requests that the call waits for: a person may be typing. */
  asking: number;
  /** Limits the notifications of this call; created with the first one. */
  notificationRate: RateLimit | undefined;
}

/**
 * Calls of the same turn may run at the same time where a question names no call: those of one client, and those of all
 * callers that cannot be asked, since a question is refused whichever of them it is for. Undefined without a caller.
 */
export function turnOf({
  caller,
  onServerRequest,
}: Pick<RequestOptions, 'caller' | 'onServerRequest'>): object | undefined {
  return caller && (onServerRequest ? caller.client : NOT_ASKED);
}
const NOT_ASKED = {};

/** Our requests without an answer yet, each with its deadline and cancellation. */
export class PendingCalls {
  /** Called for each call that ended, for any reason. */
  onEnded: (() => void) | undefined;
  /** Whether calls of other clients can begin only when those that run have ended. */
  isWaitedFor: (() => boolean) | undefined;
  private readonly calls: SlotTable<Call>;
  private readonly ids: RequestIds;

  /** `onGivenUp` is called for cancelled and timed-out calls, so that the server can be notified. */
  constructor(
    private readonly onGivenUp: (call: Call, reason: string) => void,
    options: { readonly guessableIds: boolean } = { guessableIds: true },
  ) {
    this.ids = new RequestIds(options.guessableIds);
    this.calls = new SlotTable(() => this.ids.next());
  }

  get size(): number {
    return this.calls.size;
  }

  /** How many were sent for users. */
  get ofUsers(): number {
    return this.calls.all().filter(({ method }) => !OWN_METHODS.has(method)).length;
  }

  has(id: RpcId): boolean {
    return this.calls.get(id) !== undefined;
  }

  /** Also gives ids to requests that are not calls. */
  nextId(): number {
    return this.calls.nextId();
  }

  get(id: RpcId): Call | undefined {
    return this.calls.get(id);
  }

  only(): Call | undefined {
    return this.calls.size === 1 ? this.calls.all()[0] : undefined;
  }

  /** The newest call with a caller, if all running calls with a caller are of one client. */
  ofOnlyClient(): Call | undefined {
    let newest: Call | undefined;
    for (const call of this.calls.all()) {
      const { caller } = call.options;
      if (!caller) continue;
      if (newest && newest.options.caller?.client !== caller.client) return undefined;
      if (!newest || call.id > newest.id) newest = call;
    }
    return newest;
  }

  /** Whether a call of another client is running. */
  hasOthersThan(client: object): boolean {
    return this.calls
      .all()
      .some(({ options }) => options.caller && options.caller.client !== client);
  }

  /** Whether a call is running that must not run at the same time as those of this turn. */
  hasOtherTurnsThan(turn: object): boolean {
    return this.calls.all().some(({ options }) => {
      const other = turnOf(options);
      return other !== undefined && other !== turn;
    });
  }

  hasCallers(): boolean {
    return this.calls.all().some(({ options }) => options.caller !== undefined);
  }

  /** Returns the request id. */
  add(method: string, options: RequestOptions, settle: Call['settle']): number {
    const id = this.calls.nextId();
    const { signal, timeoutMs, maxTotalMs = timeoutMs * PROGRESS_STRETCHES } = options;
    const onAbort = signal && ((): void => this.giveUp(id, new RequestCancelled()));
    if (signal && onAbort) signal.addEventListener('abort', onAbort, { once: true });
    this.calls.add({
      id,
      method,
      options,
      endsAt: performance.now() + maxTotalMs,
      settle,
      onAbort,
      timer: setTimeout(() => this.expire(id), timeoutMs),
      asking: 0,
      notificationRate: undefined,
    });
    return id;
  }

  resolve(id: RpcId, result: RawJsonObject): void {
    const call = this.take(id);
    if (!call) return;
    if (result.bytes.length < HEAVY_BYTES) call.settle.resolve(result);
    else inOwnTurn(() => call.settle.resolve(result));
    this.onEnded?.();
  }

  reject(id: RpcId, error: Error): void {
    const call = this.take(id);
    if (!call) return;
    call.settle.reject(error);
    this.onEnded?.();
  }

  rejectAll(errorFor: (call: Call) => Error): void {
    for (const call of this.calls.all()) this.reject(call.id, errorFor(call));
  }

  /** Gives up waiting without settling the call: its caller does that. */
  detach(id: RpcId): Call | undefined {
    const call = this.take(id);
    if (call) this.onEnded?.();
    return call;
  }

  giveUp(id: RpcId, error: Error): void {
    const call = this.take(id);
    if (!call) return;
    call.settle.reject(error);
    this.onGivenUp(call, error.message);
    this.onEnded?.();
  }

  /** Restarts the deadline on progress, but never beyond `endsAt`. */
  extend(id: RpcId, byMs?: number): void {
    const call = this.calls.get(id);
    if (!call) return;
    const { timeoutMs } = call.options;
    const left = Math.max(0, Math.min(byMs ?? timeoutMs, call.endsAt - performance.now()));
    clearTimeout(call.timer);
    call.timer = setTimeout(() => this.expire(id), left);
  }

  private expire(id: RpcId): void {
    const call = this.calls.get(id);
    if (!call) return;
    if (call.asking > 0 && performance.now() < call.endsAt && !this.isWaitedFor?.())
      return this.extend(id, this.isWaitedFor ? LOOK_AGAIN_MS : undefined);
    this.giveUp(id, new RequestTimedOut(call.method, call.options.timeoutMs));
  }

  private take(id: RpcId): Call | undefined {
    const call = this.calls.get(id);
    if (!call) return undefined;
    this.calls.remove(call);
    clearTimeout(call.timer);
    if (call.onAbort) call.options.signal?.removeEventListener('abort', call.onAbort);
    return call;
  }
}
