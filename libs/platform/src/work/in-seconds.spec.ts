import { inSeconds } from './in-seconds.js';

describe(inSeconds.name, () => {
  it.each([
    [29_999.997_696, '30 s'],
    [30_000, '30 s'],
    [1_540, '1.5 s'],
    [250.000_1, '0.25 s'],
    [999.99, '1 s'],
    [0, '0 s'],
  ])('writes %d ms as %s', (ms, text) => {
    expect(inSeconds(ms)).toBe(text);
  });
});
