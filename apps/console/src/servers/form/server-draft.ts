import type { RegisterServerDto, ServerDetailView } from '@app/api-client';

export type Transport = RegisterServerDto['transport_type'];
export type Trust = NonNullable<RegisterServerDto['trust']>;
export type Credentials = ServerDetailView['credentials'];

/** A header or a variable; the id keeps its row while the name changes. */
export interface Pair {
  readonly id: number;
  readonly name: string;
  readonly value: string;
}

export interface OAuthDraft {
  /** Empty: nothing was agreed beforehand. */
  readonly grant: '' | 'authorization_code' | 'client_credentials';
  readonly client_id: string;
  readonly client_secret: string;
  readonly private_key: string;
  readonly algorithm: string;
  readonly scope: string;
  readonly issuer: string;
}

export interface ExchangeDraft {
  readonly token_url: string;
  readonly client_id: string;
  readonly client_secret: string;
  readonly audience: string;
  readonly scope: string;
}

/** The fields of the form, as typed. */
export interface ServerDraft {
  readonly name: string;
  readonly description: string;
  readonly transport: Transport;
  readonly command: string;
  /** One argument a line. */
  readonly args: string;
  readonly env: readonly Pair[];
  readonly cwd: string;
  readonly url: string;
  readonly headers: readonly Pair[];
  readonly oauth: OAuthDraft;
  readonly healthCheckUrl: string;
  readonly autoConnect: boolean;
  /** Empty: as the service does with every server. */
  readonly trust: Trust | '';
  readonly credentials: Credentials;
  readonly exchange: ExchangeDraft;
}

const noOAuth: OAuthDraft = {
  grant: '',
  client_id: '',
  client_secret: '',
  private_key: '',
  algorithm: '',
  scope: '',
  issuer: '',
};

const noExchange: ExchangeDraft = {
  token_url: '',
  client_id: '',
  client_secret: '',
  audience: '',
  scope: '',
};

export const emptyDraft: ServerDraft = {
  name: '',
  description: '',
  transport: 'STDIO',
  command: '',
  args: '',
  env: [],
  cwd: '',
  url: '',
  headers: [],
  oauth: noOAuth,
  healthCheckUrl: '',
  autoConnect: true,
  trust: '',
  credentials: 'shared',
  exchange: noExchange,
};

/** A registered server as fields; masked secrets stay masked, which means unchanged. */
export function draftOf(server: ServerDetailView): ServerDraft {
  const config = server.connection_config;
  const oauth = recordAt(config, 'oauth');
  const exchange = recordAt(config, 'exchange');
  const grant = textAt(oauth, 'grant');
  const isGrant = grant === 'authorization_code' || grant === 'client_credentials';
  return {
    ...emptyDraft,
    name: server.name,
    description: server.description ?? '',
    transport: server.transport_type,
    command: textAt(config, 'command'),
    args: listAt(config, 'args').join('\n'),
    env: pairsAt(config, 'env'),
    cwd: textAt(config, 'cwd'),
    url: textAt(config, server.transport_type === 'HTTP' ? 'base_url' : 'url'),
    headers: pairsAt(config, 'headers'),
    oauth: {
      grant: isGrant ? grant : '',
      client_id: textAt(oauth, 'client_id'),
      client_secret: textAt(oauth, 'client_secret'),
      private_key: textAt(oauth, 'private_key'),
      algorithm: textAt(oauth, 'algorithm'),
      scope: textAt(oauth, 'scope'),
      issuer: textAt(oauth, 'issuer'),
    },
    healthCheckUrl: server.health_check_url ?? '',
    trust: server.trust ?? '',
    credentials: server.credentials,
    exchange: {
      token_url: textAt(exchange, 'token_url'),
      client_id: textAt(exchange, 'client_id'),
      client_secret: textAt(exchange, 'client_secret'),
      audience: textAt(exchange, 'audience'),
      scope: textAt(exchange, 'scope'),
    },
  };
}

export function registrationOf(draft: ServerDraft): RegisterServerDto {
  return {
    name: draft.name.trim(),
    description: orNull(draft.description),
    transport_type: draft.transport,
    connection_config: configOf(draft),
    health_check_url: orNull(draft.healthCheckUrl),
    auto_connect: draft.autoConnect,
    trust: draft.trust === '' ? null : draft.trust,
    credentials: draft.credentials,
  };
}

/** The connection as the service reads it; fields that were left empty are left out. */
export function configOf(draft: ServerDraft): Record<string, unknown> {
  if (draft.transport === 'STDIO') {
    return {
      command: draft.command.trim(),
      args: draft.args.split('\n').filter((arg) => arg !== ''),
      env: recordOf(draft.env),
      ...given({ cwd: draft.cwd.trim() }),
    };
  }
  const { grant, ...agreed } = draft.oauth;
  return {
    [draft.transport === 'HTTP' ? 'base_url' : 'url']: draft.url.trim(),
    headers: recordOf(draft.headers),
    ...(grant !== '' && { oauth: { grant, ...given(agreed) } }),
    ...(draft.credentials === 'exchange' && { exchange: given({ ...draft.exchange }) }),
  };
}

function given(fields: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
}

function recordOf(pairs: readonly Pair[]): Record<string, string> {
  const named = pairs.filter(({ name }) => name.trim() !== '');
  return Object.fromEntries(named.map(({ name, value }) => [name.trim(), value]));
}

function orNull(text: string): string | null {
  return text.trim() === '' ? null : text.trim();
}

type Fields = Readonly<Record<string, unknown>>;

function textAt(fields: Fields, key: string): string {
  const value = fields[key];
  return typeof value === 'string' ? value : '';
}

function listAt(fields: Fields, key: string): string[] {
  const value = fields[key];
  return Array.isArray(value) ? value.map(String) : [];
}

function recordAt(fields: Fields, key: string): Fields {
  const value = fields[key];
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function pairsAt(fields: Fields, key: string): Pair[] {
  return Object.entries(recordAt(fields, key)).map(([name, value], id) => ({
    id,
    name,
    value: String(value),
  }));
}
