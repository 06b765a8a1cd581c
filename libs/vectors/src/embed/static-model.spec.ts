import { processorMs } from '../../../../test/support/loop-delay.js';
import { StaticModel } from './static-model.js';

describe(StaticModel, () => {
  const model = StaticModel.load();
  const similarity = (a: string, b: string): number => {
    const [left, right] = [model.embed(a), model.embed(b)];
    return left && right ? left.reduce((sum, value, i) => sum + value * (right[i] ?? 0), 0) : NaN;
  };

  it('puts paraphrases near each other', () => {
    const same = similarity('send an email', 'compose and deliver mail messages');
    const other = similarity('send an email', 'weather forecast for the weekend');
    expect(same).toBeGreaterThan(other + 0.2);
  });

  it('returns unit vectors, ignoring case and accents', () => {
    expect(similarity('Café Météo', 'cafe meteo')).toBeCloseTo(1);
  });

  it('has no vector for a text without a known word', () => {
    expect(model.embed('')).toBeUndefined();
    expect(model.embed('ช่วย')).toBeUndefined();
  });

  it('stays fast on hostile texts', () => {
    for (const text of ['a'.repeat(1_000_000), '\u0301'.repeat(1_000_000), ' ,'.repeat(500_000)]) {
      expect(processorMs(() => void model.embed(text))).toBeLessThan(1_000);
    }
  });
});
