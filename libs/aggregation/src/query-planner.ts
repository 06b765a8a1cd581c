import { Logger } from '@nestjs/common';
import type { CatalogueTool } from '@app/discovery';
import { type Llm, LlmFailed, type LlmQuestion } from '@app/llm';
import { AppError, type Clock } from '@app/platform';
import { LookUpFailed } from './aggregation.errors.js';
import {
  choiceOf,
  followUpOf,
  followUpQuestion,
  type OfferedTool,
  planQuestion,
} from './planner-questions.js';
import type { PlannedCall, PlannedLookUp, Question } from './query-tool.js';
import type { QueryMetrics } from './query.metrics.js';
import type { Target } from './targets.js';
import { propertiesOf } from './tool-definition.js';
import { type ArgumentReader, argumentReader } from './tool-arguments.js';

export interface PlanningTime {
  /** Of whoever asked the question. */
  readonly signal: AbortSignal;
  readonly withinMs: number;
}

interface Offer {
  readonly target: Target;
  /** The likest in meaning first. */
  readonly tools: readonly OfferedTool[];
}

/** Each costs a request; the others are asked as without a planner. */
const MAX_SERVERS = 10;
const MAX_TOOLS_PER_SERVER = 8;
/** After a failure no question waits for the same again so soon. */
const REST_MS = 10_000;

/**
 * Lets a hosted language model choose which tools of a server are asked what. Each server has a request of
 * its own, so that what one says of itself touches no other; whatever the model answers, only safe tools of
 * that server are called, with arguments that fit their schemas. Where it fails, the plain choice stands.
 */
export class QueryPlanner {
  private readonly logger = new Logger(QueryPlanner.name);
  private readonly readers = new WeakMap<CatalogueTool, { read: ArgumentReader | undefined }>();
  private problem: { readonly error: LlmFailed; readonly until: number } | undefined;

  constructor(
    /** Undefined: every choice is the plain one. */
    private readonly llm: Llm | undefined,
    private readonly clock: Clock,
    private readonly metrics: QueryMetrics,
  ) {}

  /** The same targets, with the model's choices in place of the plain ones. */
  async plan(
    targets: readonly Target[],
    question: Question,
    { signal, withinMs }: PlanningTime,
  ): Promise<readonly Target[]> {
    const { llm } = this;
    if (!llm) return targets;
    const likeness = ({ tools: [best] }: Offer): number =>
      best ? question.likeness(best.tool) : 0;
    const offers = targets
      .map((target) => ({ target, tools: this.offeredBy(target) }))
      .filter(hasChoice)
      .toSorted((a, b) => likeness(b) - likeness(a));
    const time = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(withinMs))]);
    const planned = await Promise.all(
      offers.map(async (offer, i) => {
        const { target } = offer;
        const planner = `${llm.name} chooses for ${MAX_SERVERS} servers at most`;
        if (i >= MAX_SERVERS) return [target, { ...target, planner }] as const;
        return [target, await this.planFor(llm, offer, question, { signal, time })] as const;
      }),
    );
    const byTarget = new Map(planned);
    return targets.map((target) => byTarget.get(target) ?? target);
  }

  private offeredBy({ safe, problem }: Target): OfferedTool[] {
    const offered: OfferedTool[] = [];
    if (problem !== undefined) return offered;
    for (const tool of safe) {
      const read = this.readerOf(tool);
      if (read) offered.push({ tool, read });
      if (offered.length === MAX_TOOLS_PER_SERVER) break;
    }
    return offered;
  }

  private readerOf(tool: CatalogueTool): ArgumentReader | undefined {
    const known = this.readers.get(tool) ?? { read: argumentReader(tool) };
    this.readers.set(tool, known);
    return known.read;
  }

  private async planFor(
    llm: Llm,
    { target, tools }: Offer,
    { query, maxCalls }: Question,
    { signal, time }: { readonly signal: AbortSignal; readonly time: AbortSignal },
  ): Promise<Target> {
    const why = `chosen by ${llm.name}`;
    try {
      const answer = await this.ask(llm, planQuestion(query, target.server, tools, maxCalls), {
        signal,
        time,
      });
      const choice = choiceOf(answer, tools, { maxCalls, why });
      if (!choice) throw new LlmFailed(llm.name, 'it chose nothing that can be asked');
      this.metrics.plans.inc({ outcome: 'chosen' });
      const { lookUp } = choice;
      // When the look-up fails, what is left is the plain choice.
      const plan = lookUp
        ? { lookUp: this.lookUp(llm, query, lookUp, signal) }
        : { calls: choice.calls.map((call) => withWordsOf(target, call)) };
      return { ...target, ...plan, planner: why };
    } catch (error) {
      this.metrics.plans.inc({ outcome: 'failed' });
      if (error instanceof AppError) return { ...target, planner: error.message };
      this.logger.error({ server: target.server.name, err: error }, 'planning a query failed');
      return { ...target, planner: 'planning failed' };
    }
  }

  private lookUp(
    llm: Llm,
    query: string,
    { call, next }: { readonly call: PlannedCall; readonly next: OfferedTool },
    signal: AbortSignal,
  ): PlannedLookUp {
    const followUp: PlannedLookUp['followUp'] = async (answer, time) => {
      const question = followUpQuestion(query, call.tool, answer, next);
      const found = followUpOf(await this.ask(llm, question, { signal, time }), next, call.why);
      if (found) return found;
      throw new LookUpFailed(`it found nothing to ask ${next.tool.originalName} with`);
    };
    return { call: { ...call, why: `${call.why} to look something up` }, followUp };
  }

  private async ask(
    llm: Llm,
    question: LlmQuestion,
    { signal, time }: { readonly signal: AbortSignal; readonly time: AbortSignal },
  ): Promise<unknown> {
    if (this.problem && this.clock.now().getTime() < this.problem.until) throw this.problem.error;
    try {
      const answer = await llm.ask(question, time);
      this.problem = undefined;
      return answer;
    } catch (error) {
      // Whoever asked may have left; that is no fault of the model.
      if (error instanceof LlmFailed && !signal.aborted) this.note(error);
      throw error;
    }
  }

  private note(error: LlmFailed): void {
    // Once, not with every query; without the cause, whose text may repeat a key.
    if (this.problem?.error.message !== error.message) this.logger.warn(error.message);
    this.problem = { error, until: this.clock.now().getTime() + REST_MS };
  }
}

/** With one tool that takes nothing but the question, there is none. */
function hasChoice({ target, tools: [first, ...others] }: Offer): boolean {
  if (!first) return false;
  const plain = target.calls[0]?.tool === first.tool;
  return others.length > 0 || !plain || Object.keys(propertiesOf(first.tool)).length > 1;
}

/** A server that looks for words literally does so whoever chose the call. */
function withWordsOf({ calls }: Target, call: PlannedCall): PlannedCall {
  const plain = calls.find(({ tool }) => tool === call.tool);
  return plain ? { ...call, byWord: plain.byWord } : call;
}
