import { Injectable, type OnModuleInit } from '@nestjs/common';
import { z } from 'zod';
import { ActivityFeed, PeerQuestions } from '@app/activity';
import { type ConnectedClient, McpEndpoint } from '@app/mcp-server';

const LIST = 'client-sessions';
const END = 'end-client-session';
/** Of one replica. */
const MAX_SENT = 5_000;

const clientSessions = z
  .array(
    z.strictObject({
      id: z.uuid(),
      caller: z.string().nullable(),
      era: z.enum(['legacy', 'modern']),
      client_name: z.string().nullable(),
      client_version: z.string().nullable(),
      protocol_version: z.string().nullable(),
      endpoint: z.string(),
      view: z.string().nullable(),
      capabilities: z.array(z.string()),
      subscriptions: z.int(),
      streams: z.int(),
      opened_at: z.iso.datetime(),
      last_seen_at: z.iso.datetime(),
      calls: z.int(),
      running: z.int(),
      replica: z.string(),
    }),
  )
  .max(MAX_SENT);

/** As it is shown, and sent between replicas. */
export type ClientSession = z.infer<typeof clientSessions>[number];

export interface ListedClients {
  readonly sessions: readonly ClientSession[];
  readonly missing: number;
}

/** The clients of every replica. */
@Injectable()
export class ClientSessions implements OnModuleInit {
  constructor(
    private readonly endpoint: McpEndpoint,
    private readonly peers: PeerQuestions,
    private readonly feed: ActivityFeed,
  ) {}

  onModuleInit(): void {
    this.peers.answerWith(LIST, () => [...this.own()]);
    this.peers.answerWith(END, ({ id }) => typeof id === 'string' && this.endpoint.endClient(id));
  }

  /** Last seen first. */
  async list(): Promise<ListedClients> {
    const { answers, missing } = await this.peers.ask(LIST, {});
    const others = answers.map((answer) => clientSessions.safeParse(answer));
    const all = [...this.own(), ...others.flatMap(({ data = [] }) => data)];
    return {
      sessions: all.toSorted((one, other) => (one.last_seen_at < other.last_seen_at ? 1 : -1)),
      missing: missing + others.filter(({ success }) => !success).length,
    };
  }

  /** False if no replica that answered has it. */
  async end(id: string): Promise<boolean> {
    if (this.endpoint.endClient(id)) return true;
    const { answers } = await this.peers.ask(END, { id });
    return answers.includes(true);
  }

  private own(): readonly ClientSession[] {
    return this.endpoint.clients
      .toSorted((one, other) => other.lastSeenAt.getTime() - one.lastSeenAt.getTime())
      .slice(0, MAX_SENT)
      .map((client) => viewOf(client, this.feed.replica));
  }
}

function viewOf(client: ConnectedClient, replica: string): ClientSession {
  const { id, caller, era, info, version, endpoint, view, capabilities } = client;
  return {
    id,
    caller,
    era,
    client_name: info.name,
    client_version: info.version,
    protocol_version: version,
    endpoint,
    view,
    capabilities: [...capabilities],
    subscriptions: client.subscriptions,
    streams: client.streams,
    opened_at: client.openedAt.toISOString(),
    last_seen_at: client.lastSeenAt.toISOString(),
    calls: client.calls,
    running: client.running,
    replica,
  };
}
