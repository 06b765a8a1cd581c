import { Injectable } from '@nestjs/common';
import { type CatalogueSnapshot, type CatalogueTool, textOfTool } from '@app/catalogue';
import { inSlices, type Sliced } from '@app/platform';
import { dot, StaticModel, ToolVectors } from '@app/vectors';
import type { Scored } from '../rank/ranking.js';
import { LexicalIndex } from '../words/lexical-index.js';
import { LexicalTools, toDocument } from '../words/lexical-tools.js';

/** What one view shows otherwise than the servers define it. */
interface Compiled {
  /** As they are shown; equal lists have equal indexes. */
  readonly tools: readonly CatalogueTool[];
  readonly words: LexicalIndex;
  /** By tool id; empty if another model embeds the tools. */
  readonly vectors: ReadonlyMap<number, Float32Array>;
}

/** The key is the offer of a view, which is another object when it offers something else. */
type Offering = object;

/**
 * The names and descriptions that views give to tools, so that the words people see find them. Compiled when a view is
 * first searched after a change of them; a search compares two snapshots and looks into an index of these tools.
 */
@Injectable()
export class ShownTexts {
  private readonly compiled = new WeakMap<Offering, Promise<Compiled>>();
  private readonly retold = new WeakMap<CatalogueSnapshot, readonly CatalogueTool[]>();

  constructor(
    private readonly lexical: LexicalTools,
    private readonly vectors: ToolVectors,
    private readonly model: StaticModel,
  ) {}

  /** Undefined for a view that shows every tool as its server defines it. */
  async of(offer: Offering, snapshot: CatalogueSnapshot): Promise<Compiled | undefined> {
    const tools = this.retoldIn(snapshot);
    if (tools.length === 0) return undefined;
    const known = await this.compiled.get(offer)?.catch(() => undefined);
    if (known && isSame(known.tools, tools)) return known;
    const compiling = inSlices(this.compile(tools));
    this.compiled.set(offer, compiling);
    return compiling;
  }

  private retoldIn(snapshot: CatalogueSnapshot): readonly CatalogueTool[] {
    // Only a part of the catalogue has overrides: the whole is never asked.
    if (!snapshot.isPart) return [];
    let tools = this.retold.get(snapshot);
    if (!tools) {
      tools = snapshot.tools.filter(({ offeredAs }) => offeredAs !== undefined);
      this.retold.set(snapshot, tools);
    }
    return tools;
  }

  private *compile(tools: readonly CatalogueTool[]): Sliced<Compiled> {
    const shown = tools.map(underItsName);
    const words = new LexicalIndex(this.lexical.index);
    yield* words.updating(shown.map(toDocument), []);
    const vectors = new Map<number, Float32Array>();
    if (this.vectors.modelId !== this.model.id) return { tools, words, vectors };
    for (const tool of shown) {
      yield;
      const vector = this.model.embed(textOfTool(tool));
      if (vector) vectors.set(tool.id, vector);
    }
    return { tools, words, vectors };
  }
}

/** Tools by the better of both scores, best first. */
export function bestOf(own: readonly Scored[], shown: readonly Scored[]): readonly Scored[] {
  if (shown.length === 0) return own;
  const best = new Map(own.map(({ id, score }) => [id, score]));
  for (const { id, score } of shown) best.set(id, Math.max(score, best.get(id) ?? score));
  return [...best]
    .map(([id, score]) => ({ id, score }))
    .toSorted((a, b) => b.score - a.score || a.id - b.id);
}

/** The shown texts that are nearer to a query than the score `above`. */
export function nearest(
  vectors: ReadonlyMap<number, Float32Array>,
  query: Float32Array | undefined,
  above: number,
): readonly Scored[] {
  const near: Scored[] = [];
  if (!query) return near;
  for (const [id, vector] of vectors) {
    const score = dot(query, vector);
    if (score > above) near.push({ id, score });
  }
  return near;
}

/** Words are taken from the name at the server, which this one replaces. */
function underItsName(tool: CatalogueTool): CatalogueTool {
  const name = tool.offeredAs?.name;
  return name === undefined ? tool : { ...tool, originalName: name };
}

function isSame(one: readonly CatalogueTool[], other: readonly CatalogueTool[]): boolean {
  if (one === other) return true;
  return one.length === other.length && one.every((tool, i) => tool === other[i]);
}
