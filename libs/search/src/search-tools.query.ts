import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type Actor, personOf } from '@app/access';
import { ActivityFeed } from '@app/activity';
import { SkillMap } from '@app/classification';
import {
  Catalogue,
  type CatalogueServer,
  type CatalogueSnapshot,
  type CatalogueTool,
} from '@app/catalogue';
import { Learning, LearntTools } from '@app/learning';
import { type Span, timed } from '@app/platform';
import type { Offer } from '@app/policy';
import { StaticModel, ToolVectors } from '@app/vectors';
import { LexicalTools } from './words/lexical-tools.js';
import { VisibleWords } from './words/visible-words.js';
import { lettersOf, namesIn } from './query/exact-names.js';
import { QueryReader, type Texts } from './query/query-reader.js';
import type { Understood } from './query/understand.js';
import { staticCosines, staticShare, withLifts } from './rank/learnt-hits.js';
import { type MatchedSkill, matchSkills } from './rank/match-skills.js';
import {
  denseDepth,
  fuse,
  type Hits,
  LEXICAL_DEPTH,
  namedFirst,
  rank,
  type Scored,
  withClauses,
} from './rank/ranking.js';
import { type SearchExplanation, SearchExplainer } from './explain/explain-search.js';
import { type NoGoodMatch, NoGoodMatches } from './fit/no-good-match.js';
import { ToolFits } from './fit/tool-fits.js';
import { type ExcludedServer, type Scope, scopeOf } from './scope.js';
import { bestOf, nearest, ShownTexts } from './shown/shown-texts.js';
import { choose, type Strategy, type StrategyUsed } from './rank/strategy.js';

/** A call is credited to a search if the tool is among the best so many, whether or not the answer has it. */
const CREDITED = 50;
/** Whether a tool fits is judged by the best so many, whether or not the answer has them. */
const JUDGED = 10;
/** In characters, on REST and MCP. */
export const MAX_QUERY_LENGTH = 2_000;

export interface SearchRequest {
  readonly query: string;
  readonly limit?: number | undefined;
  readonly strategy?: Strategy | undefined;
  /** False searches only own tools. */
  readonly includeExternal?: boolean | undefined;
  /** Server names. */
  readonly servers?: readonly string[] | undefined;
  /** Tools with a lower score (0…1) are left out. */
  readonly toolThreshold?: number | undefined;
  /** Tools that fit less (0…1) are left out. */
  readonly fitThreshold?: number | undefined;
  /** Skills with a lower score (0…1) do not match. */
  readonly skillThreshold?: number | undefined;
  /** Explains the score of each hit; `all` also names the tools that were left out. */
  readonly explain?: 'hits' | 'all' | undefined;
}

export interface FoundTool {
  readonly tool: CatalogueTool;
  /** Undefined for an own tool. */
  readonly server: CatalogueServer | undefined;
  /** 0…1, relative to the best possible hit of this query. */
  readonly score: number;
  /** 0…1, whatever else was found. */
  readonly fit: number;
}

export interface SearchResult {
  /** By score, then name. */
  readonly tools: readonly FoundTool[];
  readonly matchedSkills: readonly MatchedSkill[];
  readonly strategyUsed: StrategyUsed;
  readonly serversSearched: number;
  readonly externalTools: number;
  readonly excludedServers: readonly ExcludedServer[];
  /** Set if probably no tool does what was asked. */
  readonly noGoodMatch: NoGoodMatch | undefined;
  /** Why the ranking is degraded; undefined when it is not. */
  readonly degraded: string | undefined;
  readonly vectorMs: number;
  readonly rankingMs: number;
  readonly explanation?: SearchExplanation;
  /** By which a call says that it follows this search; undefined if nothing is learnt. */
  readonly searchId: string | undefined;
}

/** Who searches. */
export interface Asker extends Pick<Actor, 'name' | 'subject'> {
  /** The view whose uses are learnt from. */
  readonly viewId: string;
  /** Nothing is learnt from searches of one who may not call what they find. */
  readonly mayOnlyRead?: boolean;
  /** The session of the client: a call in it that follows is credited to the search. */
  readonly session?: object | undefined;
}

export const searchDefaults = { limit: 10, toolThreshold: 0.1, skillThreshold: 0.4 } as const;

/** Searches tools by meaning and by words, with one ranking for REST and MCP. Reads no database. */
export class SearchTools extends Query<SearchResult> {
  constructor(
    readonly request: SearchRequest,
    /** What is searched. */
    readonly offer: Pick<Offer, 'catalogue' | 'ruleFor' | 'isReadOnly' | 'view'>,
    readonly asker?: Asker,
    /** Of the request; undefined when nothing is traced. */
    readonly span?: Span,
  ) {
    super();
  }
}

/** What was found for each text of a query, and where. */
interface Looked {
  readonly texts: Texts;
  /** By the static model. */
  readonly vectors: readonly (Float32Array | undefined)[];
  readonly hits: readonly Hits[];
  /** Of the whole query by the static model, with what was learnt; not of all tools. */
  readonly cosines: ReadonlyMap<number, number>;
  readonly snapshot: CatalogueSnapshot;
  readonly scope: Scope;
  readonly shown: Shown;
  readonly visible: VisibleWords;
  readonly dense: Pick<ToolVectorAnswer, 'modelId' | 'problem'>;
  readonly vectorMs: number;
}

@QueryHandler(SearchTools)
export class SearchToolsHandler implements IQueryHandler<SearchTools> {
  constructor(
    private readonly catalogue: Catalogue,
    private readonly lexical: LexicalTools,
    private readonly reader: QueryReader,
    private readonly shown: ShownTexts,
    private readonly vectors: ToolVectors,
    private readonly skills: SkillMap,
    private readonly model: StaticModel,
    private readonly explainer: SearchExplainer,
    private readonly fits: ToolFits,
    private readonly noGoodMatches: NoGoodMatches,
    private readonly learnt: LearntTools,
    private readonly learning: Learning,
    private readonly feed: ActivityFeed,
  ) {}

  async execute({ request, offer, asker, span }: SearchTools): Promise<SearchResult> {
    const started = performance.now();
    const result = await timed(span, 'search tools', async (searching) => {
      const found = await this.search(request, offer, asker, started);
      if (searching) describePhases(searching, found);
      return found;
    });
    if (this.feed.isHeard('search')) {
      const data = {
        found: result.tools.length,
        strategy: result.strategyUsed,
        servers_searched: result.serversSearched,
        duration_ms: Math.round((performance.now() - started) * 10) / 10,
      };
      void this.feed.tell({ topic: 'search', data, ...(asker && { caller: asker.name }) });
    }
    return result;
  }

  private async search(
    request: SearchRequest,
    offer: SearchTools['offer'],
    asker: Asker | undefined,
    started: number,
  ): Promise<SearchResult> {
    const looked = await this.look(request, offer, asker, started);
    const { texts, vectors, snapshot, scope, hits, shown, visible, dense, vectorMs } = looked;
    const threshold = request.toolThreshold ?? searchDefaults.toolThreshold;
    const named = this.namedIn(request.query, scope, snapshot, shown);
    const scores = namedFirst(scoresOf(hits), named);
    const ranked = rank(scores, threshold, (id) => snapshot.toolsById.get(id)?.name);
    const skillsOf = (id: number): readonly string[] => snapshot.toolsById.get(id)?.skillIds ?? [];
    const skillThreshold = request.skillThreshold ?? searchDefaults.skillThreshold;
    const matchedSkills = matchSkills(
      this.skills.current,
      vectors[0],
      ranked,
      skillThreshold,
      skillsOf,
    );
    const isDirect = request.strategy === 'direct';
    const { chosen, strategyUsed } = choose(
      ranked,
      request.limit ?? searchDefaults.limit,
      new Set(isDirect ? [] : matchedSkills.map((skill) => skill.id)),
      skillsOf,
    );
    const all = this.fitting(chosen, looked, named);
    const tools = all.filter(({ fit }) => fit >= (request.fitThreshold ?? 0));
    const judged = [...all, ...this.fitting(bestOthers(looked, scores, chosen), looked, named)];
    const rankingMs = performance.now() - started - vectorMs;
    return {
      tools,
      matchedSkills,
      strategyUsed,
      serversSearched: scope.servers.length,
      externalTools: scope.externalTools,
      excludedServers: scope.excluded,
      noGoodMatch: this.noGoodMatches.find(texts[0], judged, { ...looked, filter: request }),
      degraded: dense.problem,
      searchId: asker && this.noted(asker, vectors[0], ranked),
      vectorMs,
      rankingMs,
      ...(request.explain && {
        explanation: await this.explainer.explain({
          texts,
          hits,
          ranked,
          named,
          threshold,
          tools: scope.tools,
          filter: request,
          offer,
          embeddingModel: dense.modelId,
          skillThreshold,
          matchedSkills,
          found: tools.map(({ tool }) => tool),
          visible,
          mayKnow: request.explain === 'all',
        }),
      }),
    };
  }

  /** The id of the search, which a call may follow. */
  private noted(
    { session, viewId, mayOnlyRead, ...caller }: Asker,
    vector: Float32Array | undefined,
    ranked: readonly Scored[],
  ): string | undefined {
    if (mayOnlyRead) return undefined;
    const tools = ranked.slice(0, CREDITED).map(({ id }) => id);
    return vector && this.learning.noteSearch({ caller, viewId, vector, tools, session });
  }

  /** The tools with their fit; a tool that the query names fits. */
  private fitting(
    scored: readonly Scored[],
    { texts, cosines, snapshot, visible }: Looked,
    named: ReadonlySet<number>,
  ): FoundTool[] {
    const tools = scored.flatMap(({ id, score }) => found(snapshot, id, score) ?? []);
    const fits = this.fits.of(
      texts[0],
      tools.map(({ tool }) => tool),
      visible,
      cosines,
    );
    return tools.map((one) => ({
      ...one,
      fit: named.has(one.tool.id) ? 1 : (fits.get(one.tool.id) ?? 0),
    }));
  }

  /** What each text of the query found, by words and by meaning. */
  private async look(
    request: SearchRequest,
    offer: SearchTools['offer'],
    asker: Asker | undefined,
    started: number,
  ): Promise<Looked> {
    const offered = offer.catalogue(this.catalogue.current);
    const shown = await this.shown.of(offer, offered);
    const before = scopeOf(offered, request);
    const searched = new VisibleWords(this.lexical.index, shown?.words, before.tools);
    const texts = await this.reader.read(request.query, searched);
    const meanings = texts.map(({ meaning }) => meaning);
    const vectors = meanings.map((meaning) => this.model.embed(meaning));
    const dense =
      before.tools.size > 0
        ? await this.vectors.search(meanings, denseDepth(before.tools.size), before.filter, {
            asker: asker && personOf(asker).subject,
            among: before.among,
          })
        : { hits: undefined, modelId: undefined, problem: undefined };
    const vectorMs = performance.now() - started;
    // Take the snapshot after the wait, so that tools removed in the meantime are not returned.
    const snapshot = offer.catalogue(this.catalogue.current);
    const scope = scopeOf(snapshot, request);
    const found = this.hitsOf(texts, vectors, dense.hits, scope, shown);
    const learnt = asker && this.learnt.of(asker.viewId);
    const lifts = vectors.map((vector) => (vector && learnt?.lifts(vector)) ?? []);
    const share = staticShare(dense.modelId, this.model.id);
    const hits = found.map((one, i) =>
      withLifts(one, lifts[i] ?? [], share, (id) => scope.tools.has(id)),
    );
    const cosines = staticCosines(hits[0] ?? NO_HITS, lifts[0] ?? [], share);
    const visible = new VisibleWords(this.lexical.index, shown?.words, snapshot.toolsById);
    return { texts, vectors, snapshot, scope, hits, cosines, shown, visible, dense, vectorMs };
  }

  /** Tools whose exact name is in the query. */
  private namedIn(
    query: string,
    { tools }: Scope,
    { toolsById }: CatalogueSnapshot,
    shown: Shown,
  ): Set<number> {
    const names = namesIn(query);
    const wanted = new Set(names.map(lettersOf));
    const likely = [...this.lexical.index.withName(names), ...(shown?.words.withName(names) ?? [])];
    const named = likely.filter((id) => {
      const tool = tools.has(id) ? toolsById.get(id) : undefined;
      if (!tool) return false;
      const name = lettersOf(tool.offeredAs?.name ?? tool.originalName);
      return wanted.has(name) || wanted.has(lettersOf(tool.serverName) + name);
    });
    return new Set(named);
  }

  private hitsOf(
    texts: readonly Understood[],
    vectors: readonly (Float32Array | undefined)[],
    hits: ToolVectorAnswer['hits'],
    { tools }: Scope,
    shown: Shown,
  ): Hits[] {
    const isInScope = (id: number): boolean => tools.has(id);
    const depth = denseDepth(tools.size);
    return texts.map(({ words }, i) => {
      const lexical = this.lexical.index.search(words, LEXICAL_DEPTH, isInScope);
      const dense = hits?.[i]?.filter(({ id }) => isInScope(id));
      if (!shown) return { lexical, dense, depth };
      const last = dense && dense.length >= depth ? dense[depth - 1] : undefined;
      const near = dense && nearest(shown.vectors, vectors[i], last?.score ?? -Infinity);
      return {
        lexical: bestOf(lexical, shown.words.search(words, LEXICAL_DEPTH, isInScope)),
        dense:
          near &&
          bestOf(
            dense,
            near.filter(({ id }) => isInScope(id)),
          ),
        depth,
      };
    });
  }
}

/** By meaning, which may be asked of another service, then by words and all that follows. */
function describePhases(span: Span, { vectorMs, rankingMs }: SearchResult): void {
  const { startedAt } = span;
  const embeddedAt = startedAt + vectorMs;
  span.child('search vectors', undefined, startedAt).end(undefined, embeddedAt);
  span.child('rank tools', undefined, embeddedAt).end(undefined, embeddedAt + rankingMs);
}

/** Those of the best that the answer lacks because of its limit or threshold. */
function bestOthers(
  { snapshot }: Looked,
  scores: ReadonlyMap<number, number>,
  chosen: readonly Scored[],
): readonly Scored[] {
  if (chosen.length >= JUDGED) return [];
  const best = rank(scores, 0, (id) => snapshot.toolsById.get(id)?.name).slice(0, JUDGED);
  return best.filter(({ id }) => chosen.every((one) => one.id !== id));
}

function scoresOf(hits: readonly Hits[]): ReadonlyMap<number, number> {
  const [whole = new Map<number, number>(), ...clauses] = hits.map(fuse);
  return withClauses(whole, clauses);
}

const NO_HITS: Hits = { lexical: [], dense: undefined, depth: 0 };

type ToolVectorAnswer = Awaited<ReturnType<ToolVectors['search']>>;
type Shown = Awaited<ReturnType<ShownTexts['of']>>;

function found(
  { toolsById, servers }: CatalogueSnapshot,
  id: number,
  score: number,
): Omit<FoundTool, 'fit'> | undefined {
  const tool = toolsById.get(id);
  return tool && { tool, server: servers.get(tool.serverId), score };
}
