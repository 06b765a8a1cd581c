import { latencyOf, PROBES_KEPT_MS, ProbeHistory } from './probe-history.js';

describe(ProbeHistory, () => {
  it('gives the checks of a server within a time', () => {
    const probes = new ProbeHistory();
    for (const at of [10, 20, 30]) probes.note('a', { at, ms: at });
    probes.note('b', { at: 20, ms: null });
    expect(probes.between('a', 10, 30).map(({ at }) => at)).toEqual([10, 20]);
    expect(probes.between('c', 0, 100)).toEqual([]);
  });

  it('forgets old checks, and removed servers', () => {
    const probes = new ProbeHistory();
    probes.note('a', { at: 0, ms: 1 });
    probes.note('a', { at: PROBES_KEPT_MS + 1, ms: 1 });
    expect(probes.between('a', 0, 2 * PROBES_KEPT_MS)).toHaveLength(1);
    probes.forget('a');
    expect(probes.between('a', 0, 2 * PROBES_KEPT_MS)).toEqual([]);
  });
});

describe(latencyOf, () => {
  it('takes percentiles of the checks that succeeded, and counts the others', () => {
    const probes = Array.from({ length: 100 }, (_, i) => ({ at: i, ms: i + 1 }));
    expect(latencyOf([...probes, { at: 100, ms: null }])).toEqual({
      checks: 101,
      failures: 1,
      p50: 50,
      p95: 95,
      max: 100,
    });
    expect(latencyOf([{ at: 1, ms: null }])).toMatchObject({ failures: 1, p50: null, max: null });
    expect(latencyOf([])).toBeNull();
  });
});
