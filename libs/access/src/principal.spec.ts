import { hasScope } from './principal.js';

describe(hasScope.name, () => {
  it.each([
    ['read', ['read']],
    ['call', ['read', 'call']],
    ['admin', ['read', 'call', 'admin']],
  ] as const)('%s includes %j', (scope, included) => {
    const caller = { name: 'x', scopes: [scope] };
    expect((['read', 'call', 'admin'] as const).filter((s) => hasScope(caller, s))).toEqual(
      included,
    );
  });

  it('is nothing without a scope', () => {
    expect(hasScope({ name: 'x', scopes: [] }, 'read')).toBe(false);
  });
});
