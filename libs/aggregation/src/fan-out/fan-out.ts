import { Injectable, Logger } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { AppError, Clock, inSlices, type JsonObject } from '@app/platform';
import { CallTool, type ForwardContext } from '@app/routing';
import {
  catchError,
  defaultIfEmpty,
  finalize,
  forkJoin,
  from,
  lastValueFrom,
  map,
  type Observable,
  of,
  switchMap,
  tap,
  timeout,
  TimeoutError,
} from 'rxjs';
import { LookUpFailed } from '../aggregation.errors.js';
import {
  type CallOutcome,
  failure,
  type OutcomeStatus,
  reasonOf,
  together,
} from './call-outcome.js';
import type { PlannedCall, PlannedLookUp } from '../choose/tool-choice.js';
import { QueryMetrics } from '../ask/query.metrics.js';
import { type ReadAnswer, readAnswer } from '../read/read-answer.js';
import { type Target, whyNotAsked } from '../choose/targets.js';

export interface ServerOutcome extends CallOutcome {
  readonly target: Target;
  readonly asked: readonly PlannedCall[];
  /** How the language model took part, if one is configured. */
  readonly planner: string | undefined;
  readonly elapsedMs: number;
}

/** The calls to a server, after a look-up if there is one. */
type Asking = Pick<ServerOutcome, 'asked' | 'planner'> & { readonly calls: readonly PlannedCall[] };

/** One call of a query, as it happened. Times are those of `performance.now()`. */
export interface CallTrace {
  readonly server: string;
  readonly tool: string;
  /** `word`: a repetition with one word of the query, because the whole query found nothing. */
  readonly kind: 'look_up' | 'call' | 'word';
  readonly argumentNames: readonly string[];
  readonly startedAt: number;
  readonly endedAt: number;
  readonly status: OutcomeStatus;
  readonly error: string | undefined;
  readonly pieces: number;
}

export interface FanOutRequest {
  readonly caller: Pick<ForwardContext, 'actor' | 'origin' | 'span'> & {
    readonly signal: AbortSignal;
  };
  readonly withinMs: number;
  /** Called as soon as a server has an outcome. */
  readonly onOutcome: (outcome: ServerOutcome) => void;
  /** Called at the end of each call, for an explanation. */
  readonly onCall?: ((trace: CallTrace) => void) | undefined;
}

/** Share of a server's timeout; the rest is for the calls after the look-up. */
const LOOK_UP_SHARE = 2 / 3;

/** Asks many servers concurrently; each has an outcome within the timeout. */
@Injectable()
export class FanOut {
  private readonly logger = new Logger(FanOut.name);

  constructor(
    private readonly commands: CommandBus,
    private readonly clock: Clock,
    private readonly metrics: QueryMetrics,
  ) {}

  /** Outcomes in the order of the targets. */
  async ask(targets: readonly Target[], request: FanOutRequest): Promise<ServerOutcome[]> {
    const stopwatch = this.metrics.duration.startTimer();
    const asked = targets.map((target) =>
      this.askServer(target, request).pipe(tap(request.onOutcome)),
    );
    const outcomes = await lastValueFrom(forkJoin(asked), { defaultValue: [] });
    stopwatch();
    for (const { target, status } of outcomes) {
      this.metrics.servers.inc({ server: target.server.name, status });
    }
    return outcomes;
  }

  private askServer(target: Target, request: FanOutRequest): Observable<ServerOutcome> {
    const problem = whyNotAsked(target);
    if (problem !== undefined) {
      const { planner } = target;
      return of({ target, asked: [], planner, ...failure('unavailable', problem), elapsedMs: 0 });
    }
    const startedAt = performance.now();
    const span = request.caller.span?.child('ask server', [
      'switchboard.server',
      target.server.name,
    ]);
    const own = span ? { ...request, caller: { ...request.caller, span } } : request;
    return this.askingOf(target, own).pipe(
      switchMap(({ calls, ...asking }) =>
        forkJoin(calls.map((call) => this.call(target, call, own, startedAt))).pipe(
          map(together),
          defaultIfEmpty(failure('failed', asking.planner ?? '')),
          map((outcome) => ({
            target,
            ...asking,
            ...outcome,
            elapsedMs: Math.round(performance.now() - startedAt),
          })),
        ),
      ),
      tap(({ status }) => span?.end(status === 'succeeded' ? undefined : status)),
    );
  }

  /** Makes the look-up, if there is one; falls back to the plain choice when it fails. */
  private askingOf(target: Target, request: FanOutRequest): Observable<Asking> {
    const { calls, lookUp, planner } = target;
    if (!lookUp) return of({ calls, asked: calls, planner });
    const startedAt = performance.now();
    const traced = (status: OutcomeStatus, error?: string): void => {
      const { tool, arguments: args } = lookUp.call;
      request.onCall?.({
        ...{ server: target.server.name, tool: tool.originalName, kind: 'look_up' },
        ...{ argumentNames: Object.keys(args), startedAt, endedAt: performance.now() },
        ...{ status, error, pieces: 0 },
      });
    };
    const giveUp = new AbortController();
    const signal = AbortSignal.any([request.caller.signal, giveUp.signal]);
    return from(this.lookUp(target, lookUp, { ...request.caller, signal })).pipe(
      timeout(request.withinMs * LOOK_UP_SHARE),
      tap(() => traced('succeeded')),
      map((call) => ({ calls: [call], asked: [lookUp.call, call], planner })),
      catchError((error: unknown) => {
        const withinMs = request.withinMs * LOOK_UP_SHARE;
        const { status, error: reason } = this.failureOf(error, target, { ...request, withinMs });
        traced(status, reason);
        return of({
          calls,
          asked: [lookUp.call, ...calls],
          planner: `${planner ?? ''}; its look-up failed: ${reason ?? ''}`,
        });
      }),
      finalize(() => giveUp.abort()),
    );
  }

  private async lookUp(
    { server }: Target,
    { call, followUp }: PlannedLookUp,
    caller: FanOutRequest['caller'],
  ): Promise<PlannedCall> {
    const { originalName } = call.tool;
    const params = { arguments: call.arguments };
    const { result } = await this.commands.execute(
      new CallTool({ tool: call.tool, server }, params, caller),
    );
    const found = await inSlices(readAnswer(result), caller.signal);
    if ('problem' in found) throw new LookUpFailed(`${originalName} ${found.problem}`);
    const answer = found.pieces.map(({ text }) => text);
    if (answer.length === 0) throw new LookUpFailed(`${originalName} found nothing`);
    return followUp(answer.join('\n'), caller.signal);
  }

  private call(
    target: Target,
    call: PlannedCall,
    request: FanOutRequest,
    startedAt: number,
  ): Observable<CallOutcome> {
    const giveUp = new AbortController();
    const signal = AbortSignal.any([request.caller.signal, giveUp.signal]);
    const send = (args: JsonObject, kind: 'call' | 'word'): Observable<CallOutcome> => {
      const sentAt = performance.now();
      return from(
        this.commands.execute(
          new CallTool(
            { tool: call.tool, server: target.server },
            { arguments: args },
            { ...request.caller, signal },
          ),
        ),
      ).pipe(
        timeout(Math.max(0, request.withinMs - (performance.now() - startedAt))),
        switchMap(({ result }) => inSlices(readAnswer(result), signal)),
        map((answer) => this.outcomeOf(answer, target, call)),
        catchError((error: unknown) => of(this.failureOf(error, target, request))),
        tap(({ status, error, passages }) =>
          request.onCall?.({
            ...{ server: target.server.name, tool: call.tool.originalName, kind },
            ...{ argumentNames: Object.keys(args), startedAt: sentAt, endedAt: performance.now() },
            ...{ status, error, pieces: passages.length },
          }),
        ),
      );
    };
    return send(call.arguments, 'call').pipe(
      switchMap((outcome) =>
        outcome.status === 'succeeded' && outcome.passages.length === 0 && call.byWord.length > 0
          ? forkJoin(call.byWord.map((args) => send(args, 'word'))).pipe(
              map((more) => together([outcome, ...more])),
            )
          : of(outcome),
      ),
      finalize(() => giveUp.abort()),
    );
  }

  private failureOf(
    error: unknown,
    { server }: Target,
    { withinMs, caller }: FanOutRequest,
  ): CallOutcome {
    if (error instanceof TimeoutError) {
      return failure('timed_out', `timeout after ${Math.round(withinMs / 100) / 10}s`);
    }
    if (!(error instanceof AppError) && !caller.signal.aborted) {
      this.logger.error({ server: server.name, err: error }, 'query.call_failed');
    }
    return failure('failed', reasonOf(error));
  }

  private outcomeOf(answer: ReadAnswer, target: Target, call: PlannedCall): CallOutcome {
    const server = target.server.name;
    const tool = call.tool.originalName;
    if ('problem' in answer) return failure('failed', `${tool} ${answer.problem}`);
    const retrievedAt = this.clock.now().getTime();
    const passages = answer.pieces.map((piece, position) => ({
      ...piece,
      server,
      tool,
      position,
      retrievedAt,
    }));
    return { status: 'succeeded', passages, isCut: answer.isCut };
  }
}
