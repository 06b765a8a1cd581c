import { Injectable } from '@nestjs/common';
import { cutText, type Tx, Variables } from '@app/platform';
import { AuthorizationStore } from './authorization.store.js';
import { longestFirst, redact, secretsOf } from '../connection/redact.js';
import { resolveConfig } from '../connection/resolve-config.js';
import { valueOrDefault } from '../connection/placeholders.js';
import { ServerStore } from '../server.store.js';

/** Limit for a message stored in a row; a server may send megabytes. */
const MAX_MESSAGE_CHARS = 2_000;
/** Redaction searches this many characters before truncating, so that no secret is cut in half. */
const SEARCHED_CHARS = 20_000;

/** Redacts a server's secrets from messages of the server or its transport. */
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
    const resolved = resolveConfig(
      config,
      (name, fallback) => valueOrDefault(this.variables.get(name), fallback) ?? '',
    );
    const searched = cutText(message, SEARCHED_CHARS);
    const redacted = redact(searched, longestFirst([...secretsOf(resolved), ...obtained]));
    return cutText(redacted, MAX_MESSAGE_CHARS);
  }
}
