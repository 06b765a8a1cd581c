import type { FieldIssue } from '@app/platform';
import type { ConnectionConfig, RemoteConfig } from '../connection/connection-config.js';
import {
  personalField,
  personalFieldsIn,
  placeholdersIn,
  substitute,
} from '../connection/placeholders.js';
import { resolveConfig } from '../connection/resolve-config.js';
import { destinationOf } from '../connection/unmask.js';
import type { CredentialMode } from '../server.js';
import { credentialsOf, isCredential } from './credentials.js';

/** What a person gives to use a server with credentials of their own. */
export interface PersonalTemplate {
  /** Names of values, in the order of the configuration. */
  readonly fields: readonly string[];
  /** A token of the person's account, by OAuth. */
  readonly usesOAuth: boolean;
  /** Who gets the values: those that were given for another destination are not sent to this one. */
  readonly destination: string;
}

/** Without values of a person, the server is expected to use OAuth. */
export function personalTemplate(config: ConnectionConfig): PersonalTemplate {
  const fields = [...new Set(named(config).flatMap(([, , value]) => personalFieldsIn(value)))];
  const mayUseOAuth = config.transport !== 'STDIO' && !hasAuthorization(config.headers);
  const usesOAuth = mayUseOAuth && fields.length === 0;
  return { fields, usesOAuth, destination: destinationOf(config) };
}

/**
 * Rules on who gives credentials. With credentials per person, a credential that is not the default of a value of the
 * person would be used for all: it is refused, so that no call can fall back to it.
 */
export function credentialIssues(mode: CredentialMode, config: ConnectionConfig): FieldIssue[] {
  const entries = named(config);
  const unused = exchangeUnused(mode, config);
  if (mode === 'shared') return [...unused, ...personalIssues(entries)];
  const shared = entries.filter(
    ([, name, value]) =>
      personalFieldsIn(value).length === 0 && isCredential(name, withoutPlaceholders(value)),
  );
  const mixed = entries.filter(
    ([, , value]) => personalFieldsIn(value).length > 0 && holdsShared(value),
  );
  const told =
    'Would be used for everyone: write ${user.NAME}, or ${user.NAME:-…} with a default for discovery and health';
  const toldMixed =
    'Holds something besides values of the person that would be used for everyone: write ${user.…} alone';
  const issues = [
    ...unused,
    ...shared.map(([place, name]) => issueAt([place, name], told)),
    ...mixed.map(([place, name]) => issueAt([place, name], toldMixed)),
  ];
  if (mode === 'exchange') issues.push(...exchangeIssues(config, entries));
  if (sharedElsewhere(config)) {
    issues.push(
      issueAt(
        [],
        'Credentials in the URL or in arguments would be used for everyone; use headers or env',
      ),
    );
  }
  if (mode === 'exchange') return issues;
  if (config.transport === 'STDIO' && config.cwd !== undefined) {
    issues.push(
      issueAt(
        ['cwd'],
        'Would be one folder for everyone: leave it out, each person has a folder of their own',
      ),
    );
  }
  const { fields, usesOAuth } = personalTemplate(config);
  if (fields.length === 0 && !usesOAuth) {
    issues.push(
      issueAt([], 'Nothing is of the person: give a header or variable with ${user.NAME}'),
    );
  }
  return config.transport === 'STDIO' ? issues : [...issues, ...oauthIssues(config, fields)];
}

function oauthIssues({ oauth }: RemoteConfig, fields: readonly string[]): FieldIssue[] {
  if (!oauth) return [];
  if (oauth.grant === 'client_credentials') {
    return [
      issueAt(['oauth', 'grant'], 'client_credentials has no person; use authorization_code'),
    ];
  }
  return fields.length > 0
    ? [issueAt(['oauth'], 'A person logs in or gives values: leave out one of the two')]
    : [];
}

function personalIssues(entries: readonly Entry[]): FieldIssue[] {
  return entries
    .filter(([, , value]) => personalFieldsIn(value).length > 0)
    .map(([place, name]) =>
      issueAt([place, name], '${user.…} needs credentials: per_user, a value for each person'),
    );
}

function exchangeUnused(mode: CredentialMode, config: ConnectionConfig): FieldIssue[] {
  const isGiven = config.transport !== 'STDIO' && config.exchange !== undefined;
  return isGiven && mode !== 'exchange'
    ? [issueAt(['exchange'], 'Is used with credentials: exchange only')]
    : [];
}

function exchangeIssues(config: ConnectionConfig, entries: readonly Entry[]): FieldIssue[] {
  if (config.transport === 'STDIO') {
    return [issueAt([], 'A program takes no tokens that are exchanged; use credentials: per_user')];
  }
  const missing = issueAt(['exchange'], 'Is required with credentials: exchange');
  const sent = issueAt(['headers'], 'The exchanged token is the Authorization header');
  return [
    ...(config.exchange ? [] : [missing]),
    ...(hasAuthorization(config.headers) ? [sent] : []),
    ...personalIssues(entries),
  ];
}

type Entry = readonly [place: 'headers' | 'env', name: string, value: string];

function named(config: ConnectionConfig): Entry[] {
  const [place, values] =
    config.transport === 'STDIO'
      ? (['env', config.env] as const)
      : (['headers', config.headers] as const);
  return Object.entries(values).map(([name, value]) => [place, name, value] as const);
}

function hasAuthorization(headers: Readonly<Record<string, string>>): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
}

function sharedElsewhere(config: ConnectionConfig): boolean {
  const rest: ConnectionConfig =
    config.transport === 'STDIO'
      ? { ...config, env: {} }
      : { ...config, headers: {}, oauth: undefined, exchange: undefined };
  return credentialsOf(resolveConfig(rest, () => UNKNOWN)).length > 0;
}

/** Of a variable whose value is not known here; a credential where its name says so. */
const UNKNOWN = 'some-value';

function withoutPlaceholders(value: string): string {
  return substitute(value, () => UNKNOWN);
}

/** Whether a value has a credential beside those of the person: a variable may hold one, whatever its name. */
function holdsShared(value: string): boolean {
  if (placeholdersIn(value).some((name) => personalField(name) === undefined)) return true;
  const rest = substitute(value, () => ' ');
  return rest.split(/[\s;,&]+/).some((part) => {
    const [, name = '', own = part] = /^([^=:]*)[=:](.*)$/s.exec(part) ?? [];
    return own !== '' && (isCredential(name, own) || isCredential('', part));
  });
}

function issueAt(loc: readonly string[], msg: string): FieldIssue {
  return { loc: ['body', 'connection_config', ...loc], msg, type: 'value_error' };
}
