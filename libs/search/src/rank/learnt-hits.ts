import type { Lift } from '@app/learning';
import type { Hits, Scored } from './ranking.js';

/** How much of the scores of a model is the cosine of the static model, by which uses are learnt. */
export function staticShare(modelId: string | undefined, staticModelId: string): number {
  // MiniLM is combined with the static model by halves (docs/decisions/0310); of remote models too little is known.
  return modelId === staticModelId ? 1 : 0.5;
}

/** Cosines of the static model, with what was learnt, as far as a search has them. */
export function staticCosines(
  { dense = [] }: Hits,
  lifts: readonly Lift[],
  share: number,
): ReadonlyMap<number, number> {
  return share === 1
    ? new Map(dense.map(({ id, score }) => [id, score]))
    : new Map(lifts.map(({ toolId, own, lift }) => [toolId, own + lift]));
}

/** Brings tools nearer that were used after queries like this one. */
export function withLifts(
  hits: Hits,
  lifts: readonly Lift[],
  share: number,
  isInScope: (id: number) => boolean,
): Hits {
  const { dense, depth } = hits;
  if (!dense || lifts.length === 0) return hits;
  const scores = new Map(dense.map(({ id, score }) => [id, score]));
  const last = dense.length >= depth ? (dense[depth - 1]?.score ?? 0) : -Infinity;
  const added = new Map<number, number>();
  for (const { toolId, own, lift } of lifts) {
    // Beyond the depth another model gives at most the last score.
    const score = scores.get(toolId) ?? (share === 1 ? own : Math.max(last, 0));
    // A text that the view shows may be nearer already than the text of the server.
    const lifted = share === 1 ? Math.max(score, own + lift) : score + share * lift;
    if (lifted <= Math.max(score, last) || !isInScope(toolId)) continue;
    added.set(toolId, lifted - score);
    scores.set(toolId, lifted);
  }
  if (added.size === 0) return hits;
  const sorted = [...scores].map(([id, score]): Scored => ({ id, score })).sort(byScore);
  return { ...hits, dense: sorted.slice(0, Math.max(depth, dense.length)), lifts: added };
}

function byScore(a: Scored, b: Scored): number {
  return b.score - a.score || a.id - b.id;
}
