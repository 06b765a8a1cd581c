import { duration } from './health.js';

describe(duration.name, () => {
  it.each([
    [0, '0 s'],
    [0.9, '0 s'],
    [59.99, '59 s'],
    [60, '1 min'],
    [3_599, '59 min 59 s'],
    [3_605, '1 h'],
    [93_600, '1 d 2 h'],
  ])('%d seconds are %s', (seconds, text) => {
    expect(duration(seconds)).toBe(text);
  });
});
