import { useSyncExternalStore } from 'react';
import { reasonOf } from '../../../api/refused.js';
import { type Call, callTool } from '../../../mcp/call-tool.js';
import type { JsonObject } from '../../../mcp/json.js';
import type { Answers, Question } from '../../../mcp/messages.js';

export type Outcome = 'running' | 'waiting' | 'answered' | 'error' | 'refused' | 'cancelled';

/** Something that happened during a run. */
export interface Moment {
  readonly at: number;
  readonly kind: 'progress' | 'log' | 'asked' | 'told';
  readonly text: string;
}

export interface Run {
  readonly id: number;
  readonly tool: string;
  readonly args: JsonObject;
  readonly startedAt: Date;
  readonly outcome: Outcome;
  readonly tookMs: number;
  readonly moments: readonly Moment[];
  /** Share of the work done, if the server says it. */
  readonly share: number | undefined;
  readonly questions: readonly Question[];
  readonly result: JsonObject | undefined;
  readonly reason: string | undefined;
  readonly bytes: number;
}

type NewRun = Pick<Call, 'tool' | 'args' | 'inputSchema' | 'searchId'>;

interface Started {
  readonly abort: AbortController;
  answer: ((answers: Answers) => void) | undefined;
}

const MAX_RUNS = 30;
const MAX_MOMENTS = 200;

/** The runs of this tab of the browser, the newest first. They end with the tab: arguments may be secret. */
class Runs {
  private runs: readonly Run[] = [];
  private readonly started = new Map<number, Started>();
  private readonly listeners = new Set<() => void>();
  private lastId = 0;

  readonly all = (): readonly Run[] => this.runs;

  readonly watch = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  start({ tool, args, inputSchema, searchId }: NewRun): number {
    const id = ++this.lastId;
    const abort = new AbortController();
    const startedAt = new Date();
    const begun = performance.now();
    const started: Started = { abort, answer: undefined };
    this.started.set(id, started);
    this.runs = [newRun(id, tool, args, startedAt), ...this.runs].slice(0, MAX_RUNS);
    this.tell();
    const since = (): number => performance.now() - begun;
    const note = (kind: Moment['kind'], text: string): void => {
      this.change(id, (run) => ({
        moments: [...run.moments, { at: since(), kind, text }].slice(-MAX_MOMENTS),
      }));
    };
    callTool({
      tool,
      args,
      inputSchema,
      searchId,
      signal: abort.signal,
      onProgress: ({ progress, total, message }) => {
        note(
          'progress',
          message ?? (total === undefined ? `${progress}` : `${progress} / ${total}`),
        );
        this.change(id, () => ({ share: total ? Math.min(1, progress / total) : undefined }));
      },
      onLog: ({ level, data }) =>
        note('log', `${level} ${typeof data === 'string' ? data : JSON.stringify(data)}`),
      answer: async (questions) => {
        note('asked', questions.map(({ method }) => method).join(', '));
        this.change(id, () => ({ outcome: 'waiting', questions }));
        const answers = await new Promise<Answers>((resolve, reject) => {
          started.answer = resolve;
          abort.signal.addEventListener('abort', () => reject(abort.signal.reason as Error));
        });
        note('told', questions.map(({ method }) => method).join(', '));
        this.change(id, () => ({ outcome: 'running', questions: [] }));
        return answers;
      },
    })
      .then(
        (result): Partial<Run> => ({
          outcome: result['isError'] === true ? 'error' : 'answered',
          result,
          bytes: new TextEncoder().encode(JSON.stringify(result)).length,
        }),
        (error: unknown): Partial<Run> =>
          abort.signal.aborted
            ? { outcome: 'cancelled' }
            : { outcome: 'refused', reason: reasonOf(error) },
      )
      .then((end) => {
        this.started.delete(id);
        this.change(id, () => ({ ...end, questions: [], tookMs: since() }));
      })
      .catch(() => undefined);
    return id;
  }

  answer(id: number, answers: Answers): void {
    this.started.get(id)?.answer?.(answers);
  }

  /** Closes its request, which cancels the call at the server. */
  cancel(id: number): void {
    this.started.get(id)?.abort.abort(new Error('cancelled'));
  }

  private change(id: number, next: (run: Run) => Partial<Run>): void {
    this.runs = this.runs.map((run) => (run.id === id ? { ...run, ...next(run) } : run));
    this.tell();
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}

function newRun(id: number, tool: string, args: JsonObject, startedAt: Date): Run {
  return {
    id,
    tool,
    args,
    startedAt,
    outcome: 'running',
    tookMs: 0,
    moments: [],
    share: undefined,
    questions: [],
    result: undefined,
    reason: undefined,
    bytes: 0,
  };
}

export const runs = new Runs();

export function useRuns(tool: string): readonly Run[] {
  const all = useSyncExternalStore(runs.watch, runs.all);
  return all.filter((run) => run.tool === tool);
}
