import {
  claimAt,
  groupsIn,
  principalName,
  type ProvedPerson,
  scopesOfRoles,
  wordsIn,
} from '@app/access';
import type { Settings, TokenScope } from '@app/platform';
import type { JWTPayload } from 'jose';
import { clientText } from '../consent/client-text.js';

const MAX_LABEL_CHARS = 100;
const GOOGLE_ISSUER = 'https://accounts.google.com';

type ClaimSettings = Pick<
  Settings,
  | 'MCP_AGGREGATOR_JWT_GROUPS_CLAIM'
  | 'MCP_AGGREGATOR_JWT_ROLES_CLAIM'
  | 'MCP_AGGREGATOR_LOGIN_DOMAINS'
  | 'MCP_AGGREGATOR_LOGIN_ROLES'
>;

/**
 * Who logged in, of the claims of a verified ID token: by issuer and subject, and with no scope for one who may not use
 * this service. An e-mail address decides only about its domain, and only a verified one. Undefined without a usable
 * subject.
 */
export function provedPerson(
  claims: JWTPayload,
  settings: ClaimSettings,
): ProvedPerson | undefined {
  const { iss: issuer, sub: subject } = claims;
  if (issuer === undefined || subject === undefined) return undefined;
  if (principalName('jwt', subject) === undefined) return undefined;
  const groups = groupsIn(claimAt(claims, settings.MCP_AGGREGATOR_JWT_GROUPS_CLAIM));
  return {
    issuer,
    subject,
    label: labelOf(claims, subject),
    groups,
    ...admission(claims, groups, settings),
  };
}

/** Everyone has an account there, not only the people of one team. */
export function admitsAllOfGoogle(
  settings: Pick<
    Settings,
    'MCP_AGGREGATOR_LOGIN_ISSUER' | 'MCP_AGGREGATOR_LOGIN_DOMAINS' | 'MCP_AGGREGATOR_LOGIN_ROLES'
  >,
): boolean {
  return (
    settings.MCP_AGGREGATOR_LOGIN_ISSUER === GOOGLE_ISSUER &&
    settings.MCP_AGGREGATOR_LOGIN_DOMAINS.length === 0 &&
    settings.MCP_AGGREGATOR_LOGIN_ROLES.some(({ given }) => given === '*')
  );
}

function scopesOf(
  claims: JWTPayload,
  groups: readonly string[],
  { MCP_AGGREGATOR_JWT_ROLES_CLAIM: claim, MCP_AGGREGATOR_LOGIN_ROLES: rules }: ClaimSettings,
): readonly TokenScope[] {
  const words = wordsIn(claimAt(claims, claim));
  if (rules.length === 0) return scopesOfRoles(words);
  const has = (given: string): boolean => {
    const [, kind, name = given] = /^(role|group):(.+)$/.exec(given) ?? [];
    if (given === '*') return true;
    return (kind !== 'group' && words.includes(name)) || (kind !== 'role' && groups.includes(name));
  };
  return scopesOfRoles(rules.filter(({ given }) => has(given)).map(({ role }) => role));
}

function admission(
  claims: JWTPayload,
  groups: readonly string[],
  settings: ClaimSettings,
): Pick<ProvedPerson, 'scopes' | 'refusal'> {
  const outside = outsideDomains(claims, settings);
  if (outside) return { scopes: [], refusal: outside };
  const scopes = scopesOf(claims, groups, settings);
  return scopes.length === 0 ? { scopes, refusal: 'role' } : { scopes };
}

function outsideDomains(
  claims: JWTPayload,
  { MCP_AGGREGATOR_LOGIN_DOMAINS: domains }: ClaimSettings,
): ProvedPerson['refusal'] {
  if (domains.length === 0) return undefined;
  const domain = domainOf(claims)?.toLowerCase();
  if (domains.some((one) => one.toLowerCase() === domain)) return undefined;
  const isUnverified = domain === undefined && claims.iss !== GOOGLE_ISSUER;
  return isUnverified ? 'unverified-address' : 'domain';
}

/**
 * At Google anyone can have an account with an address of a company, and keeps it after leaving; only `hd` says that the
 * company manages the account (OpenID Connect of Google, "hd").
 */
function domainOf(claims: JWTPayload): string | undefined {
  if (claims.iss === GOOGLE_ISSUER) {
    const { hd } = claims;
    return typeof hd === 'string' ? hd : undefined;
  }
  const email = verifiedEmail(claims);
  return email?.slice(email.lastIndexOf('@') + 1);
}

function verifiedEmail({ email, email_verified: isVerified }: JWTPayload): string | undefined {
  return typeof email === 'string' && isVerified === true ? email : undefined;
}

/** For pages only: people choose names at the identity provider, also those of others. */
function labelOf(claims: JWTPayload, subject: string): string {
  const { preferred_username: username, name } = claims;
  const given = [verifiedEmail(claims), username, name].find(
    (one) => typeof one === 'string' && one !== '',
  );
  return clientText(typeof given === 'string' ? given : '', MAX_LABEL_CHARS) || subject;
}
