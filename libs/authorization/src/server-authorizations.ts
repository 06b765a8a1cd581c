import { Inject, Injectable } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ConnectFailed } from '@app/mcp-client';
import { Clock, Egress, Env } from '@app/platform';
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
import type { AuthorizationMemory } from './oauth/oauth-state.js';
import { openAuthorizer } from './oauth/open-authorizer.js';

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
    if (transport.kind === 'STDIO') return undefined;
    const isConfigured = (name: string): boolean => name.toLowerCase() === 'authorization';
    if (Object.keys(transport.headers).some(isConfigured)) return undefined;
    return openAuthorizer(transport, this.memoryOf(server.id), {
      serverName: server.name,
      allowInsecureHttp: this.env.MCP_AGGREGATOR_ALLOW_INSECURE_HTTP,
      egress: this.egress,
      identity: () => this.address.identity(),
      now: () => this.clock.now().getTime(),
    });
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

/** The secret has 256 random bits, so a fast hash is enough. */
function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
