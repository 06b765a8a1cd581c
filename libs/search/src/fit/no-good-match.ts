import { Injectable } from '@nestjs/common';
import type { CatalogueSnapshot, CatalogueTool } from '@app/catalogue';
import { LEXICAL_DEPTH } from '../rank/ranking.js';
import type { Understood } from '../query/understand.js';
import { type Scope, type ScopeFilter, scopeOf, testOf } from '../scope.js';
import { LexicalTools } from '../words/lexical-tools.js';
import type { VisibleWords } from '../words/visible-words.js';
import { NO_GOOD_FIT } from './fit.js';
import { ToolFits } from './tool-fits.js';

/** Of the answer, and of servers that are not connected. */
const MAX_NEAREST = 3;
const MAX_COMPARED = 20;

export interface NearTool {
  readonly tool: CatalogueTool;
  readonly fit: number;
}

/** Says that probably no tool does what was asked. */
export interface NoGoodMatch {
  /** What happened and what to do next. */
  readonly message: string;
  /** The best of what was searched. */
  readonly nearest: readonly NearTool[];
  /** Tools that fit, of servers that are not connected. */
  readonly connect: readonly (NearTool & { readonly reason: string })[];
}

/** What was searched, and what else the caller sees. */
export interface SearchedPart {
  readonly scope: Scope;
  /** Has only what the caller may see. */
  readonly snapshot: CatalogueSnapshot;
  readonly visible: VisibleWords;
  readonly filter: ScopeFilter;
}

/** Looks for what else would help when no searched tool fits. */
@Injectable()
export class NoGoodMatches {
  constructor(
    private readonly lexical: LexicalTools,
    private readonly fits: ToolFits,
  ) {}

  /** Undefined if one of the best tools fits. */
  find(
    query: Understood,
    best: readonly NearTool[],
    around: SearchedPart,
  ): NoGoodMatch | undefined {
    if (best.some(({ fit }) => fit >= NO_GOOD_FIT)) return undefined;
    const { scope, snapshot, filter } = around;
    const nearest = best.toSorted((a, b) => b.fit - a.fit).slice(0, MAX_NEAREST);
    const isInFilter = testOf(filter);
    const isOther = (id: number): boolean => {
      const tool = snapshot.toolsById.get(id);
      return tool !== undefined && !scope.tools.has(id) && isInFilter(tool);
    };
    const others = scope.excluded.length > 0 ? this.fitting(query, isOther, around) : [];
    const reasons = new Map(scope.excluded.map(({ name, reason }) => [name, reason]));
    const connect = others.flatMap((near) => {
      const reason = reasons.get(near.tool.serverName);
      return reason === undefined ? [] : [{ ...near, reason }];
    });
    const isFiltered = filter.servers !== undefined || filter.includeExternal === false;
    const unfiltered = isFiltered ? this.outsideOf(query, around) : undefined;
    return { message: messageOf(connect, unfiltered), nearest, connect };
  }

  /** Tools that fit and that the filter kept from being searched. */
  private outsideOf(query: Understood, around: SearchedPart): readonly NearTool[] {
    const { scope, snapshot } = around;
    const all = scopeOf(snapshot, {}).tools;
    return this.fitting(query, (id) => all.has(id) && !scope.tools.has(id), around);
  }

  private fitting(
    query: Understood,
    accepts: (id: number) => boolean,
    { snapshot: { toolsById }, visible }: SearchedPart,
  ): NearTool[] {
    const found = this.lexical.index.search(query.words, LEXICAL_DEPTH, accepts);
    const tools = found.slice(0, MAX_COMPARED).flatMap(({ id }) => toolsById.get(id) ?? []);
    const fits = this.fits.of(query, tools, visible);
    return tools
      .map((tool) => ({ tool, fit: fits.get(tool.id) ?? 0 }))
      .filter(({ fit }) => fit >= NO_GOOD_FIT)
      .sort((a, b) => b.fit - a.fit)
      .slice(0, MAX_NEAREST);
  }
}

/** `unfiltered`: tools that fit and are outside of the filter; undefined without a filter. */
function messageOf(
  connect: NoGoodMatch['connect'],
  unfiltered: readonly NearTool[] | undefined,
): string {
  const where = unfiltered ? 'tool of the servers that were searched' : 'connected tool';
  const said = `Probably no ${where} does this; the tools found are only the nearest.`;
  if (unfiltered && unfiltered.length > 0) {
    const names = [...new Set(unfiltered.map(({ tool }) => tool.serverName))].join(', ');
    return `${said} Search without the filter: ${names} has a tool that fits.`;
  }
  const servers = [...new Set(connect.map(({ tool }) => tool.serverName))];
  if (servers.length > 0)
    return `${said} Connect ${servers.join(', ')}, which has a tool that fits.`;
  return unfiltered
    ? `${said} Search without the filter.`
    : `${said} Do without a tool, or register an MCP server that does it.`;
}
