import { Inject, Injectable } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { type Person } from '@app/access';
import { type Authorizer, ConnectFailed } from '@app/mcp-client';
import { Clock, Env } from '@app/platform';
import {
  GetPersonalTemplate,
  type PersonalTemplate,
  type PersonalValues,
  type ResolvedTransport,
  type Server,
} from '@app/registry';
import { createHash } from 'node:crypto';
import { OwnAddress } from '../consent/own-address.js';
import type { OAuthAuthorizer } from '../oauth/oauth-authorizer.js';
import type { AuthorizationMemory } from '../oauth/oauth-state.js';
import { openAuthorizer } from '../oauth/open-authorizer.js';
import { ServerAuthorizations } from '../server-authorizations.js';
import { type PersonCredential, PersonCredentialStore } from './person-credential.store.js';
import { ExchangedTokens } from './exchanged-tokens.js';
import {
  type ConnectAddress,
  ConnectionRequired,
  type ConnectReason,
  ExchangeRefused,
} from './persons.errors.js';

/** Longer than one turn with an authorization server may take. */
const HOLD_SECONDS = 30;
const TURN_WAIT_MS = 100;

/** Tokens that are exchanged come and go within a session. */
const EXCHANGED = 'exchanged';

const ENDED = 'its person has disconnected, or another process is authorizing it';

type Named = Pick<Server, 'id' | 'name'>;
type Called = Pick<Server, 'id' | 'name' | 'credentials'>;

/** What a session on behalf of one person is opened with. */
export interface PersonAccess {
  readonly person: Person;
  readonly values: PersonalValues;
  /** Changes with the credentials. */
  readonly generation: string;
  /** Of the server when the values were given; undefined without any. */
  readonly destination: string | undefined;
  /** What the person is told when the server has another destination by now. */
  moved(): Promise<Error>;
  authorizerFor(transport: ResolvedTransport): Promise<Authorizer | undefined>;
}

/** The credentials of people towards servers; those of another person, or shared ones, are never taken instead. */
@Injectable()
export class PersonCredentials {
  constructor(
    private readonly store: PersonCredentialStore,
    private readonly queries: QueryBus,
    private readonly authorizations: ServerAuthorizations,
    private readonly exchanged: ExchangedTokens,
    private readonly address: OwnAddress,
    private readonly clock: Clock,
    @Inject(Env) private readonly env: Env,
  ) {}

  /** Throws ConnectionRequired. */
  async accessOf(server: Called, person: Person): Promise<PersonAccess> {
    if (server.credentials === 'exchange') return this.exchanging(server, person);
    const holder = { serverId: server.id, subject: person.subject };
    const [{ template }, row] = await Promise.all([
      this.queries.execute(new GetPersonalTemplate(server.id)),
      this.store.load(holder),
    ]);
    const why = reasonToConnect(template, row);
    if (why || !row?.state) throw await this.required(server, person, why ?? 'none');
    const { values } = row.state;
    return {
      person,
      generation: row.generation,
      destination: template.destination,
      moved: () => this.required(server, person, 'moved'),
      values: Object.fromEntries(template.fields.map((name) => [name, values[name] ?? ''])),
      authorizerFor: async (transport) =>
        template.usesOAuth
          ? this.authorizer(server, person, template.destination, transport)
          : undefined,
    };
  }

  /** Whether anything of the person is stored, usable or not. */
  async areGiven(serverId: string, { subject }: Pick<Person, 'subject'>): Promise<boolean> {
    return (await this.store.load({ serverId, subject }))?.state !== undefined;
  }

  /** Subjects of all who have given something for a server, usable or not. */
  givenFor(serverId: string): Promise<readonly string[]> {
    return this.store.givenFor(serverId);
  }

  /** The subjects whose credentials were replaced or withdrawn since these generations were read. */
  async outdated(serverId: string, held: ReadonlyMap<string, string>): Promise<readonly string[]> {
    const subjects = [...held.keys()].filter((subject) => held.get(subject) !== EXCHANGED);
    if (subjects.length === 0) return [];
    const now = await this.store.generations(serverId, subjects);
    return subjects.filter((subject) => now.get(subject) !== held.get(subject));
  }

  /** Undefined when there are none to use any more. */
  async generation({ id, credentials }: Called, { subject }: Person): Promise<string | undefined> {
    return credentials === 'exchange'
      ? EXCHANGED
      : this.store.generation({ serverId: id, subject });
  }

  /** Whether what was given can be used: a row alone may be of a place that the server has left. */
  async isConnected(serverId: string, { subject }: Person): Promise<boolean> {
    const [{ template }, row] = await Promise.all([
      this.queries.execute(new GetPersonalTemplate(serverId)),
      this.store.load({ serverId, subject }),
    ]);
    return reasonToConnect(template, row) === undefined;
  }

  /** The server refused credentials of a person, which are not tried again: repeated logins lock accounts. */
  async refused(
    server: Called,
    person: Person,
    generation: string,
    cause: unknown,
  ): Promise<ConnectionRequired | ExchangeRefused> {
    if (server.credentials === 'exchange') return new ExchangeRefused(server, cause);
    await this.store.refuse({ serverId: server.id, subject: person.subject }, generation);
    return this.required(server, person, 'refused');
  }

  /** An address where the person can connect; undefined where browsers cannot log in. */
  async link(serverId: string, person: Person, name: string): Promise<ConnectAddress | undefined> {
    const base = this.address.base;
    if (!this.env.MCP_AGGREGATOR_CONSOLE || base === undefined) return undefined;
    const { id, until } = await this.store.openLink(serverId, person);
    return { url: `${base}/connect/${name}/${id}`, until };
  }

  /** Opened for each turn with an authorization server, from what is stored. */
  async authorizer(
    server: Named,
    person: Person,
    destination: string,
    transport: ResolvedTransport,
  ): Promise<OAuthAuthorizer | undefined> {
    if (transport.kind === 'STDIO') return undefined;
    const memory = this.memoryOf(server.id, person, destination);
    return openAuthorizer(transport, memory, this.authorizations.optionsFor(server.name));
  }

  /** Each request asks for a token that is still valid. */
  private exchanging(server: Named, person: Person): PersonAccess {
    return {
      person,
      generation: EXCHANGED,
      destination: undefined,
      moved: () => this.required(server, person, 'moved'),
      values: {},
      authorizerFor: async (transport) =>
        transport.kind === 'STDIO'
          ? undefined
          : this.exchanged.authorizer(server, person, transport),
    };
  }

  private async required(
    server: Named,
    person: Person,
    why: ConnectReason,
  ): Promise<ConnectionRequired> {
    const address = await this.link(server.id, person, server.name);
    return new ConnectionRequired(server, person.name, why, address);
  }

  private memoryOf(
    serverId: string,
    { subject }: Person,
    destination: string,
  ): AuthorizationMemory {
    const holder = { serverId, subject };
    let loaded: string | undefined;
    return {
      load: async () => {
        const row = await this.store.load(holder);
        loaded = row?.generation;
        return row?.state?.destination === destination ? row.state.oauth : undefined;
      },
      save: async ({ state, needed, question, scope, expiresAt, isGranted }) => {
        const isStored = await this.store.putOAuth(holder, loaded, destination, {
          oauth: state,
          needed,
          scopes: scope ?? null,
          expiresAt: expiresAt === undefined ? null : new Date(expiresAt),
          questionHash: question && hashOf(question.secret),
          isNew: isGranted === true,
        });
        if (!isStored && isGranted === true) throw new ConnectFailed(ENDED);
      },
      alone: async (work) => {
        await this.takeTurn(holder);
        try {
          return await work();
        } finally {
          await this.store.release(holder);
        }
      },
    };
  }

  private async takeTurn(holder: Parameters<PersonCredentialStore['hold']>[0]): Promise<void> {
    const until = this.clock.monotonic() + HOLD_SECONDS * 1_000;
    while (!(await this.store.hold(holder, HOLD_SECONDS))) {
      if (this.clock.monotonic() > until) {
        throw new ConnectFailed(ENDED);
      }
      await this.clock.sleep(TURN_WAIT_MS);
    }
  }
}

/** Why a person has to connect; undefined when what was given can be used. */
export function reasonToConnect(
  { fields, usesOAuth, destination }: PersonalTemplate,
  row: Pick<PersonCredential, 'state' | 'needed'> | undefined,
): ConnectReason | undefined {
  const state = row?.state;
  if (!state) return 'none';
  if (state.destination !== destination) return 'moved';
  if (fields.some((name) => !Object.hasOwn(state.values, name))) return 'incomplete';
  if (usesOAuth && state.oauth?.['tokens'] === undefined) return 'none';
  return row.needed ? 'refused' : undefined;
}

/** The secret has 256 random bits, so a fast hash is enough. */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
