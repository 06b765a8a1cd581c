import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { ActivityFeed } from '@app/activity';
import {
  Catalogue,
  type CatalogueSnapshot,
  type CatalogueTool,
  parameterNames,
} from '@app/catalogue';
import { abortSignalOf, Env, inSlices, type JsonObject, type Sliced, timed } from '@app/platform';
import { EVERYTHING, type Offer } from '@app/policy';
import type { ForwardContext } from '@app/routing';
import { StaticModel, toolText } from '@app/vectors';
import { answerOf } from './aggregated-answer.js';
import type { AggregatedQuery } from './aggregated-query.js';
import { AllServersFailed } from '../aggregation.errors.js';
import { digesting } from '../rank/digest.js';
import { type CallTrace, FanOut, type ServerOutcome } from '../fan-out/fan-out.js';
import { LlmPlanner } from '../choose/llm-planner.js';
import { QuerySettings } from '../settings/query-settings.js';
import { cosine } from '../rank/passage-scores.js';
import type { QueryContext } from '../choose/tool-choice.js';
import {
  isQueried,
  type NotQueried,
  type Target,
  targeting,
  type Targets,
  whyNotAsked,
} from '../choose/targets.js';
import { explaining } from './query-explanation.js';

export interface QueryProgress {
  /** Number of servers with an outcome. */
  readonly progress: number;
  readonly total: number;
  readonly message: string;
}

export interface QueryCaller extends Pick<ForwardContext, 'actor' | 'signal' | 'span'> {
  readonly onProgress?: (progress: QueryProgress) => void;
  /** The tools that it may ask are those. */
  readonly offer: Pick<Offer, 'catalogue'> & Partial<Pick<Offer, 'view'>>;
}

/** Share of the query timeout; with the defaults it leaves each server its full timeout. */
const PLANNING_SHARE = 0.4;

/**
 * Asks many servers one question and merges their answers. Throws InvalidQuery for an unknown server
 * name, AllServersFailed when no server answers.
 */
export class QueryServers extends Command<JsonObject> {
  constructor(
    readonly question: AggregatedQuery,
    readonly caller: QueryCaller,
  ) {
    super();
  }
}

@CommandHandler(QueryServers)
export class QueryServersHandler implements ICommandHandler<QueryServers> {
  /** Keyed by object: a catalogue tool is replaced when its definition changes. */
  private readonly toolVectors = new WeakMap<CatalogueTool, Float32Array>();

  constructor(
    private readonly catalogue: Catalogue,
    private readonly settings: QuerySettings,
    private readonly planner: LlmPlanner,
    private readonly fanOut: FanOut,
    /** The local model even if a remote one is configured: hundreds of passages are embedded per query. */
    private readonly model: StaticModel,
    private readonly env: Env,
    private readonly feed: ActivityFeed,
  ) {}

  async execute({ question, caller }: QueryServers): Promise<JsonObject> {
    const startedAt = performance.now();
    const outcomes: ServerOutcome[] = [];
    try {
      return await timed(caller.span, 'query servers', (span) =>
        this.ask(question, { ...caller, span }, startedAt, outcomes),
      );
    } finally {
      this.tell(caller, outcomes, performance.now() - startedAt);
    }
  }

  /** Adds the outcomes of servers to the given list. */
  private async ask(
    question: AggregatedQuery,
    caller: QueryCaller,
    startedAt: number,
    outcomes: ServerOutcome[],
  ): Promise<JsonObject> {
    const signal = abortSignalOf(caller.signal);
    const chosen = await this.chooseTargets(question, caller, signal);
    const { targets, weightOf } = chosen;
    const chosenAt = performance.now();
    const calls: CallTrace[] = [];
    const serverMs = this.serverTimeoutMs(startedAt);
    const found = await this.fanOut.ask(targets, {
      caller: { ...asCaller(caller), signal },
      withinMs: serverMs,
      onOutcome: countingProgress(targets.length, caller.onProgress),
      ...(question.explain && { onCall: (call: CallTrace) => calls.push(call) }),
    });
    outcomes.push(...found);
    const answeredAt = performance.now();
    if (!outcomes.some(({ status }) => status === 'succeeded')) {
      throw new AllServersFailed(
        targets.map(({ server }) => server.name),
        outcomes.map(({ target, error }) => `${target.server.name}: ${error ?? ''}`),
      );
    }
    const ranking = {
      query: question.query,
      passages: outcomes.flatMap(({ passages }) => passages),
      embed: (text: string) => this.model.embed(text),
      weights: new Map(targets.map((target) => [target.server.name, weightOf(target)])),
    };
    const { maxResults } = question;
    const maxTokens = this.env.MCP_AGGREGATOR_QUERY_MAX_TOKENS;
    const digest = await timed(caller.span, 'merge answers', () =>
      inSlices(digesting(ranking, { maxResults, maxTokens })),
    );
    return answerOf({
      digest,
      outcomes,
      processingTimeMs: performance.now() - startedAt,
      ...(question.explain && {
        explanation: await inSlices(
          explaining({
            ...{ outcomes, calls, digest, rule: chosen.rule, notQueried: chosen.notQueried },
            times: {
              started: startedAt,
              chosen: chosenAt,
              answered: answeredAt,
              ranked: performance.now(),
            },
            limits: {
              serverMs: Math.round(serverMs),
              queryMs: this.env.MCP_AGGREGATOR_QUERY_TIMEOUT * 1_000,
            },
          }),
        ),
      }),
    });
  }

  private tell(
    { actor }: QueryCaller,
    outcomes: readonly ServerOutcome[],
    milliseconds: number,
  ): void {
    if (!this.feed.isHeard('query')) return;
    const answered = outcomes.filter(({ status }) => status === 'succeeded');
    const data = {
      servers: outcomes.map(({ target }) => target.server.name),
      failed: outcomes.length - answered.length,
      outcome: answered.length > 0 ? 'success' : 'failure',
      duration_ms: Math.round(milliseconds * 10) / 10,
    };
    const serverIds = outcomes.map(({ target }) => target.server.id);
    void this.feed.tell({ topic: 'query', data, serverIds, caller: actor.name });
  }

  private chooseTargets(
    question: AggregatedQuery,
    { offer, span }: QueryCaller,
    signal: AbortSignal,
  ): Promise<ChosenTargets> {
    return timed(span, 'choose tools', () => this.choose(question, offer, signal));
  }

  private async choose(
    question: AggregatedQuery,
    offer: QueryCaller['offer'],
    signal: AbortSignal,
  ): Promise<ChosenTargets> {
    const { rules, servers: settings } = await this.settings.current();
    const questionVector = this.model.embed(question.query);
    const asked: QueryContext = {
      query: question.query,
      similarity: (tool) => cosine(questionVector, this.vectorOf(tool)),
      maxCalls: this.env.MCP_AGGREGATOR_QUERY_TOOLS_PER_SERVER,
    };
    const catalogue = offer.catalogue(this.catalogue.current);
    await inSlices(this.embedTools(question, catalogue));
    const chosen = await inSlices(targeting(question, catalogue, rules, settings, asked));
    const withinMs = this.env.MCP_AGGREGATOR_QUERY_TIMEOUT * 1_000 * PLANNING_SHARE;
    const planned = await this.planner.plan(chosen.targets, asked, { signal, withinMs });
    return {
      ...chosen,
      targets: planned.filter(isQueried),
      notQueried: [...chosen.notQueried, ...planned.flatMap(whyNotQueried)],
      weightOf: ({ server }) => settings.get(server.id)?.weight ?? 1,
    };
  }

  /** The timeout of a server, or what is left of the timeout of the query. */
  private serverTimeoutMs(startedAt: number): number {
    const left = this.env.MCP_AGGREGATOR_QUERY_TIMEOUT * 1_000 - (performance.now() - startedAt);
    return Math.max(0, Math.min(this.env.MCP_AGGREGATOR_QUERY_SERVER_TIMEOUT * 1_000, left));
  }

  /** In slices: a tool takes about 50 µs the first time, and there may be 100,000. */
  private *embedTools(
    { servers }: AggregatedQuery,
    { tools }: Pick<CatalogueSnapshot, 'tools'>,
  ): Sliced<void> {
    const named = servers && new Set(servers);
    for (const tool of tools) {
      if (this.toolVectors.has(tool) || (named && !named.has(tool.serverName))) continue;
      yield;
      this.vectorOf(tool);
    }
  }

  private vectorOf(tool: CatalogueTool): Float32Array | undefined {
    const known = this.toolVectors.get(tool);
    if (known) return known;
    const vector = this.model.embed(
      toolText({
        server: tool.serverName,
        name: tool.originalName,
        description: tool.description,
        parameters: parameterNames(tool.inputSchema),
      }),
    );
    if (vector) this.toolVectors.set(tool, vector);
    return vector;
  }
}

type ChosenTargets = Targets & { readonly weightOf: (target: Target) => number };

function asCaller(caller: QueryCaller): Pick<ForwardContext, 'actor' | 'origin' | 'span'> {
  const { actor, span } = caller;
  return { actor, span, origin: { entry: 'query', view: viewOf(caller) } };
}

/** Undefined for what admins see over REST, which is no view. */
function viewOf({ offer }: QueryCaller): string | null {
  return offer === EVERYTHING ? null : (offer.view?.slug ?? null);
}

function whyNotQueried(target: Target): NotQueried[] {
  if (isQueried(target)) return [];
  return [{ server: target.server.name, reason: whyNotAsked(target) ?? '' }];
}

function countingProgress(
  total: number,
  report: QueryCaller['onProgress'],
): (outcome: ServerOutcome) => void {
  let progress = 0;
  return ({ target, error, passages }) => {
    progress += 1;
    const what = error ?? `${passages.length} ${passages.length === 1 ? 'result' : 'results'}`;
    report?.({ progress, total, message: `${target.server.name}: ${what}` });
  };
}
