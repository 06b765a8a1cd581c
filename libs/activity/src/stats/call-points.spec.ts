import { CallPoints, type PointBudget } from './call-points.js';

const newBudget = (max = 1_000): PointBudget => ({ used: 0, max });

describe(CallPoints.name, () => {
  it('counts the calls of each step, and leaves out steps without one', () => {
    const points = new CallPoints(60, 3_600, newBudget());
    points.add(60, 3, false);
    points.add(119, 4, true);
    points.add(300, 5, false);
    expect(points.since(0)).toMatchObject([
      { at: 60, calls: 2, errors: 1 },
      { at: 300, calls: 1, errors: 0 },
    ]);
    expect(points.since(120)).toMatchObject([{ at: 300 }]);
  });

  it('forgets what is too old, and gives its share of the budget back', () => {
    const budget = newBudget();
    const points = new CallPoints(1, 10, budget);
    for (let second = 1; second <= 100; second++) points.add(second, 0, false);
    expect(points.since(0)).toHaveLength(10);
    expect(points.trim(1_000)).toBe(true);
    expect(budget.used).toBe(0);
  });

  it('keeps no point beyond the budget', () => {
    const budget = newBudget(5);
    const points = new CallPoints(1, 1_000, budget);
    for (let second = 1; second <= 100; second++) points.add(second, 0, false);
    expect(budget.used).toBe(5);
    expect(points.since(0)).toHaveLength(6);
  });

  it('adds to the newest step when the time of day was set back', () => {
    const points = new CallPoints(1, 1_000, newBudget());
    points.add(100, 0, false);
    points.add(50, 0, false);
    expect(points.since(0)).toMatchObject([{ at: 100, calls: 2 }]);
  });
});
