import { Injectable, Logger } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import {
  abortSignalOf,
  AppError,
  Clock,
  isJsonObject,
  type JsonObject,
  type WrittenObject,
} from '@app/platform';
import { CallTool, type ToolCaller } from '@app/routing';
import {
  catchError,
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
import { piecesOfAnswer } from './answer-pieces.js';
import type { Passage } from './passage.js';
import type { PlannedCall } from './query-tool.js';
import { QueryMetrics } from './query.metrics.js';
import type { Target } from './targets.js';

export type OutcomeStatus = 'succeeded' | 'failed' | 'timed_out' | 'unavailable';

/** What came of one server. */
export interface ServerOutcome {
  readonly target: Target;
  readonly status: OutcomeStatus;
  /** Unless it succeeded. */
  readonly error?: string;
  readonly elapsedMs: number;
  readonly passages: readonly Passage[];
  /** Whether its answer was too long to be read whole. */
  readonly isCut: boolean;
}

type CallOutcome = Omit<ServerOutcome, 'target'>;

export interface FanOutRequest {
  readonly caller: Pick<ToolCaller, 'actor' | 'signal'>;
  readonly withinMs: number;
  /** Called as servers answer, the quickest first. */
  readonly onOutcome: (outcome: ServerOutcome) => void;
}

const MAX_REASON_CHARS = 300;

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
    if (target.problem !== undefined) {
      return of({ target, ...failure('unavailable', target.problem) });
    }
    return forkJoin(target.calls.map((call) => this.call(target, call, request))).pipe(
      map((outcomes) => ({ target, ...together(outcomes) })),
    );
  }

  private call(target: Target, call: PlannedCall, request: FanOutRequest): Observable<CallOutcome> {
    const startedAt = performance.now();
    const elapsed = (): number => performance.now() - startedAt;
    const giveUp = new AbortController();
    const signal = AbortSignal.any([abortSignalOf(request.caller.signal), giveUp.signal]);
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
        timeout(Math.max(0, request.withinMs - elapsed())),
        map(({ result }) => this.read(result, target, call)),
        catchError((error: unknown) => of(this.failureOf(error, target, request))),
      );
    return send(call.arguments).pipe(
      switchMap((outcome) =>
        outcome.status === 'succeeded' && outcome.passages.length === 0 && call.byWord.length > 0
          ? forkJoin(call.byWord.map(send)).pipe(map((more) => together([outcome, ...more])))
          : of(outcome),
      ),
      map((outcome) => ({ ...outcome, elapsedMs: Math.round(elapsed()) })),
      finalize(() => giveUp.abort()),
    );
  }

  private failureOf(error: unknown, { server }: Target, { withinMs }: FanOutRequest): CallOutcome {
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
    return { status: 'succeeded', elapsedMs: 0, passages, isCut };
  }
}

function failure(status: OutcomeStatus, reason: string, elapsedMs = 0): CallOutcome {
  const error = reason.replaceAll(/\s+/g, ' ').slice(0, MAX_REASON_CHARS).toWellFormed();
  return { status, error, elapsedMs, passages: [], isCut: false };
}

/** One outcome of several calls: it succeeded when one of them did. */
function together(outcomes: readonly CallOutcome[]): CallOutcome {
  const elapsedMs = Math.max(...outcomes.map((outcome) => outcome.elapsedMs));
  const succeeded = outcomes.filter(({ status }) => status === 'succeeded');
  const [first] = outcomes;
  if (succeeded.length === 0) {
    const reasons = new Set(outcomes.map(({ error }) => error));
    return failure(first?.status ?? 'failed', [...reasons].join('; '), elapsedMs);
  }
  return {
    status: 'succeeded',
    elapsedMs,
    passages: succeeded.flatMap(({ passages }) => passages),
    isCut: succeeded.some(({ isCut }) => isCut),
  };
}

/** The cause says more than that a server is unavailable, which the reader knows already. */
function reasonOf(error: unknown): string {
  if (!(error instanceof AppError)) return 'its answer could not be read';
  return error.cause instanceof AppError ? error.cause.message : error.message;
}

function errorTextOf({ content }: JsonObject): string {
  const blocks = Array.isArray(content) ? content.filter(isJsonObject) : [];
  const texts = blocks.map(({ text }) => text).filter((text) => typeof text === 'string');
  return texts.join(' ') || 'without a word';
}
