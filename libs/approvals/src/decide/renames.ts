import type { JsonObject, Sliced } from '@app/platform';
import type { GoneTool } from '../approval.js';
import { SAME_TEXT, similarity, wordsOfText } from './similarity.js';

/** Every new definition is compared with every one that is gone. */
const MAX_COMPARED = 200;

/** By new name, the definition that it was renamed from: removed and added with nearly the same text. */
export function* formerNames(
  added: readonly { readonly name: string; readonly definition: JsonObject }[],
  gone: readonly GoneTool[],
): Sliced<ReadonlyMap<string, GoneTool>> {
  const former = new Map<string, GoneTool>();
  if (added.length === 0 || gone.length === 0) return former;
  const candidates = gone
    .slice(0, MAX_COMPARED)
    .map((tool) => ({ tool, words: wordsOfText(tool.approvedDefinition) }));
  const taken = new Set<string>();
  for (const { name, definition } of added.slice(0, MAX_COMPARED)) {
    yield;
    const words = wordsOfText(definition);
    const [best] = candidates
      .filter(({ tool }) => !taken.has(tool.name))
      .map(({ tool, words: before }) => ({ tool, score: similarity(words, before) }))
      .filter(({ score }) => score >= SAME_TEXT)
      .toSorted((a, b) => b.score - a.score);
    if (!best) continue;
    taken.add(best.tool.name);
    former.set(name, best.tool);
  }
  return former;
}
