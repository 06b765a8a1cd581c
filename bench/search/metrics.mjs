/** `relevant`: the needed tools, each as a list of acceptable ids. */
export function judge(found, relevant) {
  const recall = (depth) =>
    relevant.filter((group) => found.slice(0, depth).some((id) => group.includes(id))).length /
    relevant.length;
  const met = new Set();
  let gain = 0;
  let firstRank = 0;
  found.slice(0, 10).forEach((id, i) => {
    const need = relevant.findIndex((group, index) => !met.has(index) && group.includes(id));
    if (need < 0) return;
    met.add(need);
    gain += 1 / Math.log2(i + 2);
    firstRank ||= i + 1;
  });
  let ideal = 0;
  for (let i = 0; i < Math.min(10, relevant.length); i++) ideal += 1 / Math.log2(i + 2);
  return {
    recall1: recall(1),
    recall5: recall(5),
    recall10: recall(10),
    ndcg10: gain / ideal,
    mrr: firstRank ? 1 / firstRank : 0,
  };
}

export function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** Numbers from 0 to 1, the same in every run. */
export function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
