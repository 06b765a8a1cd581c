import { Injectable } from '@nestjs/common';
import { Catalogue, type CatalogueServer, type CatalogueTool } from '@app/catalogue';
import { inSlices, type JsonObject, type Sliced } from '@app/platform';
import { type Offer, ruleDocument } from '@app/policy';
import { isServing } from '@app/registry';
import { ToolVectors } from '@app/vectors';
import {
  denseDepth,
  type Hits,
  LEXICAL_DEPTH,
  rank,
  type Scored,
  withClauses,
} from '../rank/ranking.js';
import { filterOf, type ScopeFilter, testOf } from '../scope.js';
import type { Understood } from '../query/understand.js';
import { LexicalTools, toDocument } from '../words/lexical-tools.js';
import { fusedLike } from './hit-shares.js';

/** `withheld`: its definition waits for approval. `view`, `level`: not offered to the caller. `server`: not connected. */
export const leftOutKinds = ['withheld', 'view', 'level', 'server'] as const;
export type LeftOutKind = (typeof leftOutKinds)[number];

/** A tool that would have been found if it were searched. */
export interface LeftOutTool {
  readonly tool: CatalogueTool;
  /** On the scale of the hits. */
  readonly score: number;
  /** The position it would have among the hits, from 1. */
  readonly wouldRank: number;
  readonly kind: LeftOutKind;
  readonly reason: string;
  /** The rule of the view that excludes it. */
  readonly rule: JsonObject | null;
}

export interface LeftOut {
  /** The best of them. */
  readonly tools: readonly LeftOutTool[];
  readonly total: number;
}

export interface Searched {
  /** The query, then its clauses. */
  readonly texts: readonly [Understood, ...Understood[]];
  /** What was found for each of them. */
  readonly hits: readonly Hits[];
  readonly ranked: readonly Scored[];
  readonly threshold: number;
  /** Ids of the tools that were searched. */
  readonly tools: ReadonlySet<number>;
  readonly filter: ScopeFilter;
  readonly offer: LeftOutOffer;
}

export type LeftOutOffer = Pick<Offer, 'ruleFor' | 'isReadOnly' | 'view'>;

export const MAX_LEFT_OUT = 10;
/** Withheld tools are in no index; more than these are not compared. */
const MAX_WITHHELD = 1_000;

/** Finds what a search leaves out although it fits, for callers who may know of every tool. */
@Injectable()
export class LeftOutTools {
  constructor(
    private readonly catalogue: Catalogue,
    private readonly lexical: LexicalTools,
    private readonly vectors: ToolVectors,
  ) {}

  async find(searched: Searched): Promise<LeftOut> {
    const { texts, filter } = searched;
    const whole = this.catalogue.current;
    const isInFilter = testOf(filter);
    const isLeftOut = (tool: CatalogueTool): boolean =>
      !searched.tools.has(tool.id) && isInFilter(tool);
    const hidden = whole.tools.filter(isLeftOut);
    const withheld = whole.withheld.tools.filter(isLeftOut).slice(0, MAX_WITHHELD);
    const tools = new Map([...hidden, ...withheld].map((tool) => [tool.id, tool]));
    if (tools.size === 0) return { tools: [], total: 0 };
    const ids = new Set(hidden.map(({ id }) => id));
    const depth = denseDepth(hidden.length);
    const dense =
      hidden.length > 0
        ? (
            await this.vectors.search(
              texts.map(({ meaning }) => meaning),
              depth,
              filterOf(hidden),
              { among: ids },
            )
          ).hits
        : undefined;
    const ofWithheld = await inSlices(this.comparing(withheld, texts));
    const fused = texts.map(({ words }, i) => {
      const found = this.lexical.index.search(words, LEXICAL_DEPTH, (id) => ids.has(id));
      const lexical = [...found, ...(ofWithheld[i] ?? [])].sort((a, b) => b.score - a.score);
      const others = { lexical, dense: dense?.[i]?.filter(({ id }) => ids.has(id)), depth };
      return fusedLike(searched.hits[i] ?? others, others);
    });
    const [first = new Map<number, number>(), ...clauses] = fused;
    const best = rank(withClauses(first, clauses), searched.threshold, (id) => tools.get(id)?.name);
    return {
      tools: best.slice(0, MAX_LEFT_OUT).flatMap(({ id, score }) => {
        const tool = tools.get(id);
        return tool ? [this.explain(tool, score, searched)] : [];
      }),
      total: best.length,
    };
  }

  private *comparing(
    withheld: readonly CatalogueTool[],
    texts: readonly Understood[],
  ): Sliced<Scored[][]> {
    const found: Scored[][] = texts.map(() => []);
    for (const tool of withheld) {
      yield;
      const document = toDocument(tool);
      texts.forEach(({ words }, i) => {
        const score = this.lexical.index.scoreOf(words, document);
        if (score > 0) found[i]?.push({ id: tool.id, score });
      });
    }
    return found;
  }

  private explain(tool: CatalogueTool, score: number, searched: Searched): LeftOutTool {
    const { servers } = this.catalogue.current;
    const better = searched.ranked.filter((hit) => hit.score > score).length;
    const hit = { tool, score, wouldRank: better + 1, rule: null };
    if (tool.withheld !== null) {
      const what = tool.withheld.isNew ? 'new' : 'changed';
      const reason = `Its ${what} definition waits for approval`;
      return { ...hit, kind: 'withheld', reason };
    }
    const server = servers.get(tool.serverId);
    const { offer } = searched;
    const rule = offer.ruleFor(tool);
    if (tool.isExternal && rule?.effect !== 'include') {
      const { slug } = offer.view;
      const reason = rule
        ? `A rule of the view ${slug} excludes it`
        : `No rule of the view ${slug} includes it`;
      return { ...hit, kind: 'view', reason, rule: rule ? ruleDocument(rule, servers) : null };
    }
    if (server && !isServing(server.status)) {
      return { ...hit, kind: 'server', reason: reasonOf(server) };
    }
    const reason = 'The caller may call only tools that are annotated read-only';
    return { ...hit, kind: 'level', reason };
  }
}

function reasonOf({ name, status, errorMessage }: CatalogueServer): string {
  return `Its server ${name} is ${status}${errorMessage ? `: ${errorMessage}` : ''}`;
}
