import { Injectable, Logger } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { AppError, Clock, type JsonObject } from '@app/platform';
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
  tap,
  timeout,
  TimeoutError,
} from 'rxjs';
import { piecesOfAnswer } from './answer-pieces.js';
import { isObject } from './json-pieces.js';
import type { Passage } from './passage.js';
import type { PlannedCall } from './query-tool.js';
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
  ) {}

  /** In the order of the targets. */
  async ask(targets: readonly Target[], request: FanOutRequest): Promise<ServerOutcome[]> {
    const asked = targets.map((target) =>
      this.askServer(target, request).pipe(tap(request.onOutcome)),
    );
    return lastValueFrom(forkJoin(asked), { defaultValue: [] });
  }

  private askServer(target: Target, request: FanOutRequest): Observable<ServerOutcome> {
    if (target.problem !== undefined) {
      return of({ target, ...failure('unavailable', target.problem, 0) });
    }
    return forkJoin(target.calls.map((call) => this.call(target, call, request))).pipe(
      map((outcomes) => ({ target, ...together(outcomes) })),
    );
  }

  private call(
    { server }: Target,
    { tool, arguments: args }: PlannedCall,
    { caller, withinMs }: FanOutRequest,
  ): Observable<CallOutcome> {
    const startedAt = performance.now();
    const elapsed = (): number => Math.round(performance.now() - startedAt);
    const giveUp = new AbortController();
    const signal = AbortSignal.any([caller.signal, giveUp.signal]);
    const command = new CallTool(
      tool.originalName,
      { arguments: args },
      { actor: caller.actor, signal },
      server.id,
    );
    return from(this.commands.execute(command)).pipe(
      timeout(withinMs),
      map(({ result }) => this.read(result, server.name, tool.originalName, elapsed())),
      catchError((error: unknown) => {
        if (error instanceof TimeoutError) {
          return of(
            failure('timed_out', `timeout after ${Math.round(withinMs / 100) / 10}s`, elapsed()),
          );
        }
        if (!(error instanceof AppError)) {
          this.logger.error({ server: server.name, err: error }, 'a query of a server failed');
        }
        return of(failure('failed', reasonOf(error), elapsed()));
      }),
      finalize(() => giveUp.abort()),
    );
  }

  private read(result: JsonObject, server: string, tool: string, elapsedMs: number): CallOutcome {
    if (result['isError'] === true) {
      return failure('failed', `${tool} answered with an error: ${errorTextOf(result)}`, elapsedMs);
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
    return { status: 'succeeded', elapsedMs, passages, isCut };
  }
}

function failure(status: OutcomeStatus, reason: string, elapsedMs: number): CallOutcome {
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
  const blocks = Array.isArray(content) ? content.filter(isObject) : [];
  const texts = blocks.map(({ text }) => text).filter((text) => typeof text === 'string');
  return texts.join(' ') || 'without a word';
}
