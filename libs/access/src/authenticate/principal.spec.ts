import { tokenScopes } from '@app/platform';
import { hasScope, personOf, principalName, subjectIn } from './principal.js';

describe(hasScope.name, () => {
  it.each([
    ['read', ['read']],
    ['call', ['read', 'call']],
    ['operate', ['read', 'call', 'operate']],
    ['admin', ['read', 'call', 'operate', 'admin']],
  ] as const)('%s includes %j', (scope, included) => {
    const caller = { name: 'x', scopes: [scope], subjects: [] };
    expect(tokenScopes.filter((s) => hasScope(caller, s))).toEqual(included);
  });

  it('grants nothing without a scope', () => {
    expect(hasScope({ name: 'x', scopes: [], subjects: [] }, 'read')).toBe(false);
  });
});

describe(principalName.name, () => {
  it('keeps names of different kinds apart', () => {
    const names = ['alice', 'system', 'jwt:alice', 'client:alice', 'a:b'].flatMap((given) =>
      (['jwt', 'jwt-client'] as const).map((kind) => principalName(kind, given)),
    );
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).not.toMatch(/^[A-Za-z0-9_.@-]+$/);
    expect(principalName('token', 'alice')).toBe('alice');
  });

  it('may have as many characters as the audit log keeps', () => {
    expect(principalName('jwt', 'x'.repeat(251))).toHaveLength(255);
  });

  it.each(['', 'a\0', 'a\nb', 'a\u2028', '\u202eecila', 'a\ud800', 'x'.repeat(252)])(
    'has none for %j',
    (given) => {
      expect(principalName('jwt', given)).toBeUndefined();
    },
  );
});

describe(subjectIn.name, () => {
  it('differs for each kind, issuer and id', () => {
    const subjects = [
      subjectIn('token', 'alice'),
      subjectIn('issued', 'alice'),
      subjectIn('jwt', 'alice', 'https://one.example'),
      subjectIn('jwt', 'alice', 'https://two.example'),
      subjectIn('jwt', 'two.example alice', 'https://'),
      subjectIn('jwt', 'example alice', 'https://one'),
      subjectIn('jwt', 'alice', 'https://one example'),
      subjectIn('jwt-client', 'alice', 'https://one.example'),
      personOf({ name: 'alice' }).subject,
    ];
    expect(new Set(subjects).size).toBe(subjects.length);
  });
});
