import { Injectable } from '@nestjs/common';
import type { CatalogueSnapshot, CatalogueTool } from '@app/catalogue';
import { LEXICAL_DEPTH } from '../rank/ranking.js';
import type { Understood } from '../query/understand.js';
import { isInFilter, type Scope, type ScopeFilter } from '../scope.js';
import { LexicalTools } from '../words/lexical-tools.js';
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

/** Looks for what else would help when no searched tool fits. */
@Injectable()
export class NoGoodMatches {
  constructor(
    private readonly lexical: LexicalTools,
    private readonly fits: ToolFits,
  ) {}

  /** Undefined if a tool fits. `snapshot` has only what the caller may see. */
  find(
    query: Understood,
    found: readonly NearTool[],
    { tools: searched, excluded }: Scope,
    snapshot: CatalogueSnapshot,
    filter: ScopeFilter,
  ): NoGoodMatch | undefined {
    if (found.some(({ fit }) => fit >= NO_GOOD_FIT)) return undefined;
    const nearest = found.toSorted((a, b) => b.fit - a.fit).slice(0, MAX_NEAREST);
    const isOther = (id: number): boolean => {
      const tool = snapshot.toolsById.get(id);
      return tool !== undefined && !searched.has(id) && isInFilter(tool, filter);
    };
    const others = excluded.length > 0 ? this.fitting(query, isOther, snapshot) : [];
    const reasons = new Map(excluded.map(({ name, reason }) => [name, reason]));
    const connect = others.flatMap((near) => {
      const reason = reasons.get(near.tool.serverName);
      return reason === undefined ? [] : [{ ...near, reason }];
    });
    return { message: messageOf(connect), nearest, connect };
  }

  private fitting(
    query: Understood,
    accepts: (id: number) => boolean,
    { toolsById }: CatalogueSnapshot,
  ): NearTool[] {
    const found = this.lexical.index.search(query.words, LEXICAL_DEPTH, accepts);
    const tools = found.slice(0, MAX_COMPARED).flatMap(({ id }) => toolsById.get(id) ?? []);
    const fits = this.fits.of(query, tools);
    return tools
      .map((tool) => ({ tool, fit: fits.get(tool.id) ?? 0 }))
      .filter(({ fit }) => fit >= NO_GOOD_FIT)
      .sort((a, b) => b.fit - a.fit)
      .slice(0, MAX_NEAREST);
  }
}

function messageOf(connect: NoGoodMatch['connect']): string {
  const said = 'Probably no connected tool does this; the tools found are only the nearest.';
  const servers = [...new Set(connect.map(({ tool }) => tool.serverName))];
  return servers.length > 0
    ? `${said} Connect ${servers.join(', ')}, which has a tool that fits.`
    : `${said} Do without a tool, or register an MCP server that does it.`;
}
