import { StaticModel } from './static-model.js';

describe(StaticModel, () => {
  const model = StaticModel.load();
  const similarity = (a: string, b: string): number => {
    const [left, right] = [model.embed(a), model.embed(b)];
    return left && right ? left.reduce((sum, value, i) => sum + value * (right[i] ?? 0), 0) : NaN;
  };

  it('puts texts of one meaning near each other', () => {
    const same = similarity('send an email', 'compose and deliver mail messages');
    const other = similarity('send an email', 'weather forecast for the weekend');
    expect(same).toBeGreaterThan(other + 0.2);
  });

  it('gives vectors of length 1, the same for the same text in any case and accent', () => {
    expect(similarity('Café Météo', 'cafe meteo')).toBeCloseTo(1);
  });

  it('has none for a text without a known word', () => {
    expect(model.embed('')).toBeUndefined();
    expect(model.embed('ช่วย')).toBeUndefined();
  });

  it('stays fast on hostile texts', () => {
    const started = performance.now();
    model.embed('a'.repeat(1_000_000));
    model.embed('\u0301'.repeat(1_000_000));
    model.embed(' ,'.repeat(500_000));
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});
