import { Injectable } from '@nestjs/common';
import { type Tx, Variables } from '@app/platform';
import { AuthorizationStore } from './authorization.store.js';
import { longestFirst, redact, resolveConfig, secretsOf } from './connection-config.js';
import { ServerStore } from './server.store.js';

/** Takes a server's own secrets out of a message that came from it or its transport. */
@Injectable()
export class ServerSecrets {
  constructor(
    private readonly servers: ServerStore,
    private readonly authorizations: AuthorizationStore,
    private readonly variables: Variables,
  ) {}

  async redact(serverId: string, message: string, tx?: Tx): Promise<string> {
    const [config, obtained] = await Promise.all([
      this.servers.config(serverId, tx),
      this.authorizations.secrets(serverId, tx),
    ]);
    const resolved = resolveConfig(config, (name) => this.variables.get(name) ?? '');
    return redact(message, longestFirst([...secretsOf(resolved), ...obtained]));
  }
}
