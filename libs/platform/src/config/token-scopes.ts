/** What a token may do. Each scope includes those before it. */
export const tokenScopes = ['read', 'call', 'operate', 'admin'] as const;
export type TokenScope = (typeof tokenScopes)[number];

/** What people and programs are. A viewer lists and searches, a caller also calls tools, an operator also does daily work. */
export const roles = ['viewer', 'caller', 'operator', 'admin'] as const;
export type Role = (typeof roles)[number];

const scopeOfRole = {
  viewer: 'read',
  caller: 'call',
  operator: 'operate',
  admin: 'admin',
} as const satisfies Record<Role, TokenScope>;

export function scopesOfRole(role: Role): readonly TokenScope[] {
  return [scopeOfRole[role]];
}

/** By the scope that reaches farthest; undefined without one. */
export function roleOf(scopes: readonly TokenScope[]): Role | undefined {
  return roles.findLast((role) => scopes.includes(scopeOfRole[role]));
}

/** Whether a token with these scopes may do what needs `needed`. */
export function includesScope(scopes: readonly TokenScope[], needed: TokenScope): boolean {
  const level = tokenScopes.indexOf(needed);
  return scopes.some((scope) => tokenScopes.indexOf(scope) >= level);
}

/** A scope with those that it includes. */
export function scopesUpTo(scope: TokenScope): readonly TokenScope[] {
  return tokenScopes.slice(0, tokenScopes.indexOf(scope) + 1);
}

/** Of `read+call` or `operator`; undefined if it names something else. */
export function parseScopes(text: string): readonly TokenScope[] | undefined {
  const role = roles.find((one) => one === text);
  if (role) return scopesOfRole(role);
  const given = text.split('+');
  const known = given.flatMap((one) => tokenScopes.find((scope) => scope === one) ?? []);
  return known.length === given.length ? known : undefined;
}
