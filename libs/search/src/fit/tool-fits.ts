import { Injectable } from '@nestjs/common';
import { type CatalogueTool, textOfTool } from '@app/catalogue';
import { dot, StaticModel, termsOf } from '@app/vectors';
import type { Understood } from '../query/understand.js';
import type { VisibleWords } from '../words/visible-words.js';
import { fitOf } from './fit.js';

/** Cosines of the static model that a search has computed, by tool. */
type KnownCosines = ReadonlyMap<number, number>;

/** How well tools fit a query; always by the static model, for which the figures are calibrated. */
@Injectable()
export class ToolFits {
  constructor(private readonly model: StaticModel) {}

  of(
    query: Understood,
    tools: readonly CatalogueTool[],
    visible: VisibleWords,
    known: KnownCosines = new Map(),
  ): ReadonlyMap<number, number> {
    const vector = this.model.embed(query.meaning);
    const coverage = visible.coverage(
      query.parts,
      tools.map(({ id }) => id),
    );
    const words = new Set(query.parts.flat().flatMap((word) => termsOf(word)));
    const cosineOf = (tool: CatalogueTool): number => {
      const cosine = known.get(tool.id);
      if (cosine !== undefined) return cosine;
      const own = vector && this.model.embed(textOfTool(tool));
      return own ? dot(vector, own) : 0;
    };
    return new Map(
      tools.map((tool) => [
        tool.id,
        fitOf({
          cosine: cosineOf(tool),
          coverage: coverage.get(tool.id) ?? 0,
          isServerNamed: termsOf(tool.serverName).some((term) => words.has(term)),
        }),
      ]),
    );
  }
}
