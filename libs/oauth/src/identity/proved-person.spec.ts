import { parseEnv } from '@app/platform';
import { admitsAllOfGoogle, provedPerson } from './proved-person.js';

const scopesOf = (claims: Record<string, unknown>, settings: Record<string, string> = {}) =>
  provedPerson(
    { iss: 'https://accounts.google.com', sub: 'ada', ...claims },
    parseEnv({
      MCP_AGGREGATOR_LOGIN_DOMAINS: 'example.com',
      MCP_AGGREGATOR_LOGIN_ROLES: '*=viewer',
      ...settings,
    }),
  )?.scopes;

describe(provedPerson.name, () => {
  it('believes the domain that manages an account of Google, not the address of the person', () => {
    expect(scopesOf({ hd: 'Example.com' })).toEqual(['read']);
    expect(scopesOf({ email: 'ada@example.com', email_verified: true })).toEqual([]);
    expect(scopesOf({ hd: 'other.com', email: 'ada@example.com', email_verified: true })).toEqual(
      [],
    );
    expect(scopesOf({ hd: ['example.com'] })).toEqual([]);
  });

  it('believes no domain that another provider calls hd', () => {
    const iss = 'https://id.example.com';
    expect(scopesOf({ iss, hd: 'example.com' })).toEqual([]);
    expect(scopesOf({ iss, email: 'ada@example.com', email_verified: true })).toEqual(['read']);
  });
});

describe('roles and groups of a provider', () => {
  const settings = (rule: string) => ({
    MCP_AGGREGATOR_LOGIN_DOMAINS: '',
    MCP_AGGREGATOR_LOGIN_ROLES: `${rule}=viewer`,
    MCP_AGGREGATOR_JWT_ROLES_CLAIM: 'roles',
  });

  it.each([
    ['role:ops', ['read'], []],
    ['group:ops', [], ['read']],
    ['ops', ['read'], ['read']],
  ] as const)('are told apart by %s', (rule, ofRole, ofGroup) => {
    expect(scopesOf({ roles: ['ops'] }, settings(rule))).toEqual(ofRole);
    expect(scopesOf({ groups: ['ops'] }, settings(rule))).toEqual(ofGroup);
  });
});

describe(admitsAllOfGoogle.name, () => {
  const admits = (roles: string, domains: string, issuer = 'https://accounts.google.com') =>
    admitsAllOfGoogle(
      parseEnv({
        MCP_AGGREGATOR_LOGIN_ISSUER: issuer,
        MCP_AGGREGATOR_LOGIN_CLIENT_ID: 'switchboard',
        MCP_AGGREGATOR_PUBLIC_URL: 'https://mcp.example.com',
        MCP_AGGREGATOR_LOGIN_ROLES: roles,
        MCP_AGGREGATOR_LOGIN_DOMAINS: domains,
      }),
    );

  it('is true for a role of everyone without a domain, at Google alone', () => {
    expect(admits('ops=admin,*=viewer', '')).toBe(true);
    expect(admits('*=viewer', 'example.com')).toBe(false);
    expect(admits('ops=admin', '')).toBe(false);
    expect(admits('*=viewer', '', 'https://id.example.com')).toBe(false);
  });
});
