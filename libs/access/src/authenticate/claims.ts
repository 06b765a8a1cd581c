import { isJsonObject, roles, scopesOfRole, type TokenScope, tokenScopes } from '@app/platform';

const MAX_GROUPS = 200;
/** Subjects travel in a header when another replica answers the request. */
const MAX_SUBJECT_CHARS = 3_000;

type Claims = Readonly<Record<string, unknown>>;

/** By its name, or by a path of names with dots, such as `realm_access.roles` of Keycloak. */
export function claimAt(claims: Claims, name: string | undefined): unknown {
  if (name === undefined) return undefined;
  if (Object.hasOwn(claims, name)) return claims[name];
  let found: unknown = claims;
  for (const part of name.split('.')) {
    if (!isJsonObject(found) || !Object.hasOwn(found, part)) return undefined;
    found = found[part];
  }
  return found;
}

/** Of a text with spaces, or a list. */
export function wordsIn(claim: unknown): readonly unknown[] {
  if (typeof claim === 'string') return claim.split(' ');
  return Array.isArray(claim) ? claim : [];
}

/** Of a list, or a single name, which may have spaces. */
export function groupsIn(claim: unknown): readonly string[] {
  const given: unknown[] = Array.isArray(claim) ? claim : [claim];
  return given
    .slice(0, MAX_GROUPS)
    .filter((group): group is string => typeof group === 'string' && group !== '');
}

export function scopesOfRoles(given: readonly unknown[]): readonly TokenScope[] {
  const found = roles.filter((role) => given.includes(role)).flatMap(scopesOfRole);
  return tokenScopes.filter((scope) => found.includes(scope));
}

/** What grants are given to. What exceeds the bounds is granted nothing. */
export function subjectsOf(
  user: unknown,
  client: unknown,
  groups: readonly string[],
): readonly string[] {
  const given: (readonly [string, unknown])[] = [
    ['user', user],
    ['client', client],
    ...groups.map((group) => ['group', group] as const),
  ];
  const subjects: string[] = [];
  let chars = 0;
  for (const [kind, value] of given) {
    if (typeof value !== 'string' || value === '') continue;
    chars += value.length;
    if (chars <= MAX_SUBJECT_CHARS) subjects.push(`${kind}:${value}`);
  }
  return subjects;
}
