import { Inject, Injectable } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { type Authorizer, ConnectFailed } from '@app/mcp-client';
import { Clock, Egress, Env, type JsonObject } from '@app/platform';
import {
  AuthorizationStore,
  type ResolvedTransport,
  ResolveTransport,
  type Server,
} from '@app/registry';
import { createHash } from 'node:crypto';
import { AuthorizationNotUsed } from './authorization.errors.js';
import { OwnAddress } from './consent/own-address.js';
import type { OAuthAuthorizer } from './oauth/oauth-authorizer.js';
import type { OAuthOptions } from './oauth/authorize.js';
import type { AuthorizationMemory } from './oauth/oauth-state.js';
import { openAuthorizer, openTrialAuthorizer } from './oauth/open-authorizer.js';

/** Longer than one turn with an authorization server may take. */
const HOLD_SECONDS = 30;
const TURN_WAIT_MS = 100;

type Named = Pick<Server, 'id' | 'name'>;

/** Gives each server its OAuth credentials, from rows that all processes share. */
@Injectable()
export class ServerAuthorizations {
  constructor(
    private readonly store: AuthorizationStore,
    private readonly queries: QueryBus,
    private readonly address: OwnAddress,
    private readonly clock: Clock,
    @Inject(Env) private readonly env: Env,
    private readonly egress: Egress,
  ) {}

  /** For a server over HTTP without credentials of its own; throws AuthorizationNotUsed for others. */
  async of(server: Named): Promise<OAuthAuthorizer> {
    const { transport } = await this.queries.execute(new ResolveTransport(server.id));
    const authorizer = await this.authorizerFor(server, transport);
    if (!authorizer) throw new AuthorizationNotUsed(server.name);
    return authorizer;
  }

  async authorizerFor(
    server: Named,
    transport: ResolvedTransport,
  ): Promise<OAuthAuthorizer | undefined> {
    if (!mayUseOAuth(transport)) return undefined;
    return openAuthorizer(transport, this.memoryOf(server.id), this.optionsFor(server.name));
  }

  /** For a configuration that is tried out, perhaps of a registered server; nothing is stored. */
  async trialAuthorizerFor(
    server: { readonly id: string | undefined; readonly name: string },
    transport: ResolvedTransport,
  ): Promise<(Authorizer & { readonly issuer?: string | undefined }) | undefined> {
    if (!mayUseOAuth(transport)) return undefined;
    const options = this.optionsFor(server.name);
    // Without a person the service is the user, and each trial gets a token of its own.
    const isUnattended = transport.oauth?.grant === 'client_credentials';
    if (isUnattended) return openAuthorizer(transport, forgetful(), options);
    const { id } = server;
    const load = async () => (id === undefined ? undefined : (await this.store.load(id))?.state);
    return openTrialAuthorizer(transport, { load }, options);
  }

  optionsFor(serverName: string): OAuthOptions {
    return {
      serverName,
      allowInsecureHttp: this.env.MCP_AGGREGATOR_ALLOW_INSECURE_HTTP,
      egress: this.egress,
      identity: () => this.address.identity(),
      now: () => this.clock.now().getTime(),
    };
  }

  /** The id of the server whose consent request has this secret. */
  async serverAskedWith(secret: string): Promise<string | undefined> {
    return this.store.serverAskedWith(hashOf(secret));
  }

  private memoryOf(serverId: string): AuthorizationMemory {
    return {
      load: async () => (await this.store.load(serverId))?.state,
      save: async ({ state, needed, question }) => {
        await this.store.save(serverId, {
          state,
          needed,
          question: question && { url: question.url, until: question.until },
          questionHash: question && hashOf(question.secret),
        });
      },
      alone: async (work) => {
        await this.takeTurn(serverId);
        try {
          return await work();
        } finally {
          await this.store.release(serverId);
        }
      },
    };
  }

  private async takeTurn(serverId: string): Promise<void> {
    const until = this.clock.monotonic() + HOLD_SECONDS * 1_000;
    while (!(await this.store.hold(serverId, HOLD_SECONDS))) {
      if (this.clock.monotonic() > until) {
        throw new ConnectFailed('it was removed, or another process is authorizing it');
      }
      await this.clock.sleep(TURN_WAIT_MS);
    }
  }
}

type RemoteTransport = Extract<ResolvedTransport, { kind: 'SSE' | 'HTTP' }>;

/** A server over HTTP without credentials of its own. */
function mayUseOAuth(transport: ResolvedTransport): transport is RemoteTransport {
  if (transport.kind === 'STDIO') return false;
  return !Object.keys(transport.headers).some((name) => name.toLowerCase() === 'authorization');
}

function forgetful(): AuthorizationMemory {
  let known: JsonObject | undefined;
  return {
    load: () => Promise.resolve(known),
    save: ({ state }) => {
      known = state;
      return Promise.resolve();
    },
    alone: (work) => work(),
  };
}

/** The secret has 256 random bits, so a fast hash is enough. */
function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
