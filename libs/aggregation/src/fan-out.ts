import { Injectable, Logger } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { AppError, Clock, type JsonObject, type WrittenObject } from '@app/platform';
import { CallTool, type ToolCaller } from '@app/routing';
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
import { LookUpFailed } from './aggregation.errors.js';
import { piecesOfAnswer } from './answer-pieces.js';
import { type CallOutcome, errorTextOf, failure, reasonOf, together } from './call-outcome.js';
import type { PlannedCall, PlannedLookUp } from './query-tool.js';
import { QueryMetrics } from './query.metrics.js';
import { type Target, whyNotAsked } from './targets.js';

/** What came of one server. */
export interface ServerOutcome extends CallOutcome {
  readonly target: Target;
  /** The calls that were made, in order. */
  readonly asked: readonly PlannedCall[];
  /** What a language model had to do with them, when one is configured. */
  readonly planner: string | undefined;
  readonly elapsedMs: number;
}

/** How a server is asked, once that is known. */
type Asking = Pick<ServerOutcome, 'asked' | 'planner'> & { readonly calls: readonly PlannedCall[] };

export interface FanOutRequest {
  readonly caller: Pick<ToolCaller, 'actor'> & { readonly signal: AbortSignal };
  readonly withinMs: number;
  /** Called as servers answer, the quickest first. */
  readonly onOutcome: (outcome: ServerOutcome) => void;
}

/** Of a server's time; the rest is for what is asked then. */
const LOOK_UP_SHARE = 2 / 3;

/** Asks many servers at once; none waits for another, and each has an outcome in time. */
@Injectable()
export class FanOut {
  private readonly logger = new Logger(FanOut.name);

  constructor(
    private readonly commands: CommandBus,
    private readonly clock: Clock,
    private readonly metrics: QueryMetrics,
  ) {}

  /** In the order of the targets. */
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
    return this.askingOf(target, request).pipe(
      switchMap(({ calls, ...asking }) =>
        forkJoin(calls.map((call) => this.call(target, call, request, startedAt))).pipe(
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
    );
  }

  /** After the look-up, if there is one; what a failed one leaves is the plain choice. */
  private askingOf(target: Target, request: FanOutRequest): Observable<Asking> {
    const { calls, lookUp, planner } = target;
    if (!lookUp) return of({ calls, asked: calls, planner });
    const giveUp = new AbortController();
    const signal = AbortSignal.any([request.caller.signal, giveUp.signal]);
    return from(this.lookUp(target, lookUp, { ...request.caller, signal })).pipe(
      timeout(request.withinMs * LOOK_UP_SHARE),
      map((call) => ({ calls: [call], asked: [lookUp.call, call], planner })),
      catchError((error: unknown) => {
        const reason = this.failureOf(error, target, request.withinMs * LOOK_UP_SHARE).error;
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
      new CallTool(originalName, params, caller, server.id),
    );
    const found = result.toObject();
    if (!found) throw new LookUpFailed(`${originalName} answered with something that is no JSON`);
    if (found['isError'] === true) {
      throw new LookUpFailed(`${originalName} answered with an error: ${errorTextOf(found)}`);
    }
    const answer = piecesOfAnswer(found).pieces.map(({ text }) => text);
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
    const send = (args: JsonObject): Observable<CallOutcome> =>
      from(
        this.commands.execute(
          new CallTool(
            call.tool.originalName,
            { arguments: args },
            { actor: request.caller.actor, signal },
            target.server.id,
          ),
        ),
      ).pipe(
        timeout(Math.max(0, request.withinMs - (performance.now() - startedAt))),
        map(({ result }) => this.read(result, target, call)),
        catchError((error: unknown) => of(this.failureOf(error, target, request.withinMs))),
      );
    return send(call.arguments).pipe(
      switchMap((outcome) =>
        outcome.status === 'succeeded' && outcome.passages.length === 0 && call.byWord.length > 0
          ? forkJoin(call.byWord.map(send)).pipe(map((more) => together([outcome, ...more])))
          : of(outcome),
      ),
      finalize(() => giveUp.abort()),
    );
  }

  private failureOf(error: unknown, { server }: Target, withinMs: number): CallOutcome {
    if (error instanceof TimeoutError) {
      return failure('timed_out', `timeout after ${Math.round(withinMs / 100) / 10}s`);
    }
    if (!(error instanceof AppError)) {
      this.logger.error({ server: server.name, err: error }, 'a query of a server failed');
    }
    return failure('failed', reasonOf(error));
  }

  private read(written: WrittenObject, target: Target, call: PlannedCall): CallOutcome {
    const server = target.server.name;
    const tool = call.tool.originalName;
    const result = written.toObject();
    if (!result) return failure('failed', `${tool} answered with something that is no JSON`);
    if (result['isError'] === true) {
      return failure('failed', `${tool} answered with an error: ${errorTextOf(result)}`);
    }
    const { pieces, isCut } = piecesOfAnswer(result);
    const retrievedAt = this.clock.now().getTime();
    const passages = pieces.map((piece, position) => ({
      ...piece,
      server,
      tool,
      position,
      retrievedAt,
    }));
    return { status: 'succeeded', passages, isCut };
  }
}
