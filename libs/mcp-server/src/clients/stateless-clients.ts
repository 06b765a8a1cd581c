import { randomUUID } from 'node:crypto';
import type { McpClient } from '../surface.js';
import { capabilityNames, type ConnectedClient, NAMELESS } from './connected-client.js';

const MAX_CLIENTS = 2_000;
/** How clients name themselves is their own word: one principal that sends ever new names displaces no other's clients. */
const MAX_OF_PRINCIPAL = 100;
/** A client that sent nothing for this long is taken for gone. */
const GONE_AFTER_MS = 300_000;

interface Known {
  readonly id: string;
  readonly client: McpClient;
  readonly endpoint: string;
  /** Monotonic. */
  readonly openedAt: number;
  seenAt: number;
  calls: number;
}

/** Open streams and requests in flight of one client. */
export interface Activity {
  readonly running: number;
  readonly streams: number;
}

/**
 * Clients of the stateless era that sent a request lately. A client is told from others by its principal, its endpoint,
 * and how it names itself.
 */
export class StatelessClients {
  private readonly known = new Map<string, Known>();
  private readonly countOf = new Map<string, number>();

  constructor(
    private readonly monotonic: () => number,
    private readonly onChange: (change: 'opened' | 'ended', client: ConnectedClient) => void,
    private readonly dateAt: (monotonic: number) => Date,
  ) {}

  /** Notes a request; those of other replicas have no endpoint, and are noted there. A client beyond its share is not listed. */
  note(client: McpClient, isCall: boolean): void {
    const { endpoint } = client.caller;
    if (endpoint === undefined) return;
    const key = clientKey(client);
    let known = this.known.get(key);
    const now = this.monotonic();
    if (!known) {
      const count = this.countOf.get(client.caller.name) ?? 0;
      if (count >= MAX_OF_PRINCIPAL) return;
      if (this.known.size >= MAX_CLIENTS) this.forgetOldest();
      this.countOf.set(client.caller.name, count + 1);
      known = { id: randomUUID(), client, endpoint, openedAt: now, seenAt: now, calls: 0 };
      this.known.set(key, known);
      this.onChange('opened', this.shown(known));
    }
    known.seenAt = now;
    if (isCall) known.calls += 1;
  }

  list(activityOf: (key: string) => Activity | undefined): readonly ConnectedClient[] {
    return [...this.known].map(([key, known]) => this.shown(known, activityOf(key)));
  }

  /** The key of the client with this id. */
  find(id: string): string | undefined {
    for (const [key, known] of this.known) if (known.id === id) return key;
    return undefined;
  }

  forget(key: string): void {
    const known = this.known.get(key);
    if (!known) return;
    this.known.delete(key);
    const { name } = known.client.caller;
    const left = (this.countOf.get(name) ?? 1) - 1;
    if (left > 0) this.countOf.set(name, left);
    else this.countOf.delete(name);
    this.onChange('ended', this.shown(known));
  }

  expire(isBusy: (key: string) => boolean): void {
    const oldest = this.monotonic() - GONE_AFTER_MS;
    for (const [key, { seenAt }] of this.known) {
      if (seenAt < oldest && !isBusy(key)) this.forget(key);
    }
  }

  private forgetOldest(): void {
    let oldest: [string, Known] | undefined;
    for (const entry of this.known)
      if (!oldest || entry[1].seenAt < oldest[1].seenAt) oldest = entry;
    if (oldest) this.forget(oldest[0]);
  }

  private shown(
    { id, client, endpoint, openedAt, seenAt, calls }: Known,
    { running, streams }: Activity = { running: 0, streams: 0 },
  ): ConnectedClient {
    const { caller, capabilities, info = NAMELESS, version = null } = client;
    return {
      id,
      era: 'modern',
      caller: caller.name,
      info,
      version,
      endpoint,
      view: caller.view ?? null,
      capabilities: capabilityNames(capabilities),
      subscriptions: 0,
      streams,
      openedAt: this.dateAt(openedAt),
      lastSeenAt: this.dateAt(seenAt),
      calls,
      running,
    };
  }
}

export function clientKey({ caller, info = NAMELESS }: Pick<McpClient, 'caller' | 'info'>): string {
  return `${caller.subject}\n${caller.endpoint ?? ''}\n${info.name ?? ''}\n${info.version ?? ''}`;
}
