import { connectionBudget, connectionsOf } from './connection-budget.js';

describe(connectionBudget.name, () => {
  it.each([5, 6, 14, 15, 100])(
    'gives %i connections to the kinds of work, at least one to each',
    (all) => {
      const budget = connectionBudget(all, 2_000, 10_000);
      expect(connectionsOf(budget)).toBe(all);
      expect(Math.min(...Object.values(budget.shares))).toBeGreaterThanOrEqual(1);
    },
  );

  it('waits longer for a lock only in background work', () => {
    const { kinds } = connectionBudget(14, 2_000, 10_000);
    expect(kinds.requests).toMatchObject({ waitMs: 2_000, lockMs: 2_000, statementMs: 2_000 });
    expect(kinds.health).toMatchObject({ waitMs: 2_000, lockMs: 2_000, statementMs: 2_000 });
    expect(kinds.bulk).toMatchObject({ waitMs: 2_000, lockMs: 2_000, statementMs: 10_000 });
    expect(kinds.background).toMatchObject({ waitMs: 10_000, lockMs: 10_000, statementMs: 10_000 });
  });

  it('lets no request wait longer than other work', () => {
    expect(connectionBudget(14, 2_000, 500).kinds.requests.waitMs).toBe(500);
  });
});
