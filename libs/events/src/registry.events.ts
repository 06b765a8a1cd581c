/** The status of a server; `libs/registry/src/status/server-status.ts` has the transitions. */
export type ServerStatus =
  'DISCONNECTED' | 'CONNECTING' | 'CONNECTED' | 'DEGRADED' | 'ERROR' | 'DISCONNECTING';

/** A server's row as a transaction wrote it, so that listeners need not read it. Holds no secrets. */
export interface WrittenServer {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly status: ServerStatus;
  readonly errorMessage: string | null;
  /** Why its lists could not be read, by kind. */
  readonly listFailures: {
    readonly [kind in 'tools' | 'prompts' | 'resources' | 'resourceTemplates']?: string | undefined;
  };
  /** Null: as the setting says. */
  readonly trust: 'auto' | 'pinned' | 'review' | 'locked' | null;
  readonly credentials: 'shared' | 'per_user' | 'exchange';
  readonly registeredAt: Date;
  /** 1 when the row is inserted; grows with each write of the row. */
  readonly version: number;
}

/** A server was registered; published after its row is written. Without `server` listeners read the row. */
export class ServerRegistered {
  constructor(
    readonly serverId: string,
    readonly server?: WrittenServer,
  ) {}
}

/** Fields of a server's row were changed by request. A change of `name` also renamed its tools in the rows. */
export class ServerUpdated {
  constructor(
    readonly serverId: string,
    readonly fields: readonly string[],
  ) {}
}

/** The connection configuration of a server changed; an open session still uses the old one. */
export class ServerConnectionChanged {
  constructor(readonly serverId: string) {}
}

/** A server was deleted, and by cascade its tools and history. */
export class ServerRemoved {
  constructor(
    readonly serverId: string,
    readonly name: string,
  ) {}
}

/** A list of a server could not be read, for another reason than before, or it could again. The row has the reason. */
export class ServerListsChanged {
  constructor(readonly serverId: string) {}
}

/** Another process has written the row of a server and its tools; published by a process that waited for that. */
export class ServerWritten {
  constructor(readonly serverId: string) {}
}

/** The status of a server changed; published after the row is written. Without `server` listeners read the row. */
export class ServerStatusChanged {
  constructor(
    readonly serverId: string,
    readonly from: string,
    readonly to: string,
    readonly server?: WrittenServer,
  ) {}
}
