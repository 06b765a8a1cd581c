import { catalogueOf } from '../../../test/support/catalogue.js';
import { scopeOf } from './scope.js';

describe(scopeOf, () => {
  const names = Array.from({ length: 40 }, (_, i) => `server${i}`);
  const large = Array.from({ length: 10_001 }, (_, i) => `tool_${i}`);
  const snapshot = catalogueOf([
    ...names.map((name) => ({ name, tools: ['read'] })),
    { name: 'large', tools: large },
  ]);

  it('keeps the scope of all tools, whatever filters are searched with', () => {
    const [all, own] = [scopeOf(snapshot, {}), scopeOf(snapshot, { includeExternal: false })];
    for (const name of names) scopeOf(snapshot, { servers: [name] });
    expect(scopeOf(snapshot, {})).toBe(all);
    expect(scopeOf(snapshot, { includeExternal: false })).toBe(own);
  });

  it('keeps the last few scopes of some servers, unless they are large', () => {
    const scopes = names.map((name) => scopeOf(snapshot, { servers: [name] }));
    const isKept = (i: number): boolean =>
      scopeOf(snapshot, { servers: [names[i] ?? ''] }) === scopes[i];
    expect([39, 38, 37, 0].map(isKept)).toEqual([true, true, true, false]);
    const first = scopeOf(snapshot, { servers: ['large'] });
    expect(scopeOf(snapshot, { servers: ['large'] })).not.toBe(first);
  });
});
