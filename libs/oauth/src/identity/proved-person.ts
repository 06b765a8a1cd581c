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
    scopes: isOfDomain(claims, settings) ? scopesOf(claims, groups, settings) : [],
    groups,
  };
}

function scopesOf(
  claims: JWTPayload,
  groups: readonly string[],
  { MCP_AGGREGATOR_JWT_ROLES_CLAIM: claim, MCP_AGGREGATOR_LOGIN_ROLES: rules }: ClaimSettings,
): readonly TokenScope[] {
  const words = wordsIn(claimAt(claims, claim));
  if (rules.length === 0) return scopesOfRoles(words);
  const has = (given: string): boolean =>
    given === '*' || words.includes(given) || groups.includes(given);
  return scopesOfRoles(rules.filter(({ given }) => has(given)).map(({ role }) => role));
}

function isOfDomain(
  claims: JWTPayload,
  { MCP_AGGREGATOR_LOGIN_DOMAINS: domains }: ClaimSettings,
): boolean {
  if (domains.length === 0) return true;
  const email = verifiedEmail(claims);
  const domain = email?.slice(email.lastIndexOf('@') + 1).toLowerCase();
  return domain !== undefined && domains.some((one) => one.toLowerCase() === domain);
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
