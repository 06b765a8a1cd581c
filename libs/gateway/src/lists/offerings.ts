import {
  Inject,
  Injectable,
  Logger,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { Catalogue, type CatalogueServer } from '@app/catalogue';
import { Clock, CoalescedRuns, Env, Signal } from '@app/platform';
import type { Offer } from '@app/policy';
import type { UpstreamSession } from '@app/mcp-client';
import { isWithdrawn } from '@app/registry';
import { ServerRetries, SessionPool } from '@app/sessions';
import { listOffered } from './list-offered.js';
import {
  OFFERED_KINDS,
  type OfferedKind,
  type OfferedList,
  type Offering,
} from './offered-list.js';
import { OfferingStore, type StoredKind, WITHHELD_PROMPTS } from './offering.store.js';
import { OfferingWarnings } from './offering-warnings.js';
import { type OfferingServer, OfferingsView, templatesOf } from './offerings-view.js';
import { ServerInstructions } from './server-instructions.js';
import { storedList } from './read-offered.js';
import { PromptScreening } from '../screen/prompt-screening.js';

/** One server may use at most 1/8 of the bytes kept for all servers. */
const SHARE_OF_ONE_SERVER = 8;

const NO_NAMES: ReadonlySet<string> = new Set();

type ChangeListener = (kind: 'prompts' | 'resources') => void;

/**
 * Prompts, resources and templates of all servers, kept in memory so that listing never waits for a server. A list
 * is read when a session opens and when the server announces a change. If reading fails, the old list stays and
 * other lists are not delayed. Lists are also stored in rows, for restarts and other replicas.
 */
@Injectable()
export class Offerings implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger(Offerings.name);
  private readonly offerings = new Map<string, Offering>();
  private readonly changed = new Signal<'prompts' | 'resources'>('offerings');
  private readonly runs = new CoalescedRuns();
  private readonly unwritten = new Set<string>();
  /** Digests of the lists of prompts that were decided on, by server. */
  private readonly screened = new Map<string, string>();
  /** Names of prompts that wait for approval, as in the rows. */
  private readonly withheldPrompts = new Map<string, ReadonlySet<string>>();
  /** When this process wrote a list last, by server and kind: rows that were read before are older. */
  private readonly writtenAt = new Map<string, number>();
  private steps = 0;
  private readonly retries: ServerRetries;
  /** Lists of DEGRADED servers that are read once the server has recovered (contract R40). */
  private readonly deferred = new Map<string, Set<OfferedKind>>();
  private shown = new OfferingsView([], new Set());

  constructor(
    private readonly catalogue: Catalogue,
    private readonly sessions: SessionPool,
    private readonly store: OfferingStore,
    private readonly warnings: OfferingWarnings,
    private readonly instructions: ServerInstructions,
    private readonly screening: PromptScreening,
    clock: Clock,
    @Inject(Env) private readonly env: Env,
  ) {
    this.retries = new ServerRetries(clock, env);
    this.show();
  }

  /** Shows these servers as the catalogue has them now: added, removed or changed. */
  followServers(serverIds: readonly string[]): void {
    const { servers } = this.catalogue.current;
    for (const id of serverIds) {
      const server = servers.get(id);
      if (!server) this.drop(id);
      else if (server.status !== 'DEGRADED') this.readDeferred(id);
    }
    this.show();
  }

  async onModuleInit(): Promise<void> {
    await this.load();
  }

  onModuleDestroy(): void {
    this.retries.stop();
  }

  /** What is offered of the lists. */
  viewOf(offer: Offer): OfferingsView {
    return this.shown.offeredBy(offer);
  }

  /** Calls the listener when the list that clients see has changed. */
  watch(listener: ChangeListener): () => void {
    return this.changed.hear(listener);
  }

  async refresh(serverId: string, kinds: readonly OfferedKind[] = OFFERED_KINDS): Promise<void> {
    const read = (kind: OfferedKind): Promise<void> =>
      this.runs.run(`${serverId} ${kind}`, () => this.read(serverId, kind));
    await Promise.all(kinds.map(read));
  }

  forget(serverId: string): void {
    this.drop(serverId);
    this.show();
  }

  /**
   * The owner of a URI. A URI that no list or template matches goes to the only server with resources, if there is
   * just one.
   */
  ownerOf(uri: string, offer: Offer): CatalogueServer | undefined {
    return this.offeredOwner(uri, offer, (view) => view.ownerOf(uri));
  }

  ownerOfReference(reference: string, offer: Offer): CatalogueServer | undefined {
    return this.offeredOwner(reference, offer, (view) => view.ownerOfReference(reference));
  }

  /** Whether a view offers a URI of a server, itself or by a template. */
  offersUri(serverId: string, uri: string, offer: Offer): boolean {
    if (offer.offers('resource', serverId, uri)) return true;
    return this.viewOf(offer).lists(serverId, uri) && !offer.excludesUri(serverId, uri);
  }

  /** A URI may be offered although the template that it matches is not. */
  private offeredOwner(
    uri: string,
    offer: Offer,
    ownerIn: (view: OfferingsView) => CatalogueServer | undefined,
  ): CatalogueServer | undefined {
    const offered = ownerIn(this.viewOf(offer));
    if (offered && !offer.excludesUri(offered.id, uri)) return offered;
    const owner = ownerIn(this.shown) ?? this.onlyServerWithResources();
    return owner && offer.offers('resource', owner.id, uri) ? owner : undefined;
  }

  /** Servers without a connection count too: another server must not get their URIs in the meantime. */
  private onlyServerWithResources(): CatalogueServer | undefined {
    const [only, other] = shownOf(this.catalogue.current.servers.values()).filter(
      ({ id }) =>
        this.offerings.get(id)?.resources !== undefined ||
        this.sessions.get(id)?.capabilities['resources'] !== undefined,
    );
    return other ? undefined : only;
  }

  private async read(serverId: string, kind: OfferedKind): Promise<void> {
    const session = this.sessions.get(serverId);
    if (!session) return;
    const key = `${serverId} ${kind}`;
    if (this.isDegraded(serverId)) return this.defer(serverId, kind);
    const listed = await listOffered(session, kind, this.bytesFor(serverId, kind));
    // A new session has been opened, and its own read counts.
    if (this.sessions.get(serverId) !== session) return;
    if ('error' in listed) return this.readAgain(serverId, kind, listed);
    this.retries.clear(key);
    if (this.catalogue.current.servers.get(serverId)?.listFailures[kind] !== undefined) {
      await this.warnings.noteFailure(serverId, kind, null);
    }
    this.warnings.note(serverId, kind, listed.remarks);
    if (kind === 'prompts') return this.readPrompts(serverId, session, listed.list);
    const isNew = this.offerings.get(serverId)?.[kind]?.digest !== listed.list?.digest;
    this.writtenAt.set(key, ++this.steps);
    this.set(serverId, kind, listed.list);
    this.show();
    if (isNew || this.unwritten.has(key)) await this.write(serverId, kind, listed.list);
  }

  /** Prompts are offered as they were approved: what was decided about the same list before still holds. */
  private async readPrompts(
    serverId: string,
    session: UpstreamSession,
    list: OfferedList | undefined,
  ): Promise<void> {
    const before = this.offerings.get(serverId)?.prompts;
    if (!list && !before) return;
    const digest = list?.digest ?? '';
    if (this.screened.get(serverId) === digest) return;
    try {
      const offered = await this.screening.offered(serverId, list);
      if (this.sessions.get(serverId) !== session) return;
      this.screened.set(serverId, digest);
      this.writtenAt.set(`${serverId} prompts`, ++this.steps);
      this.noteWithheld(serverId, list, offered);
      this.set(serverId, 'prompts', offered);
      this.show();
    } catch (error) {
      await this.readAgain(serverId, 'prompts', { error, reason: 'they could not be stored' });
    }
  }

  private noteWithheld(
    serverId: string,
    listed: OfferedList | undefined,
    offered: OfferedList | undefined,
  ): void {
    const names = (listed?.items ?? []).map(({ key }) => key).filter((key) => !offered?.find(key));
    this.withheldPrompts.set(serverId, new Set(names));
  }

  /** Prompts of a server that are offered, in every view. */
  promptsOf(serverId: string): OfferedList | undefined {
    return this.offerings.get(serverId)?.prompts;
  }

  /** Prompts of a server that it lists and that are not offered. */
  withheldPromptsOf(serverId: string): ReadonlySet<string> {
    return this.withheldPrompts.get(serverId) ?? NO_NAMES;
  }

  /** After a decision about them, or another trust of the server. */
  listPromptsAgain(serverId: string): Promise<void> {
    this.screened.delete(serverId);
    return this.refresh(serverId, ['prompts']);
  }

  private async write(
    serverId: string,
    kind: OfferedKind,
    list: OfferedList | undefined,
  ): Promise<void> {
    const key = `${serverId} ${kind}`;
    try {
      await this.store.write(serverId, kind, list?.items);
      this.unwritten.delete(key);
    } catch (error) {
      this.unwritten.add(key);
      this.logger.warn({ server_id: serverId, kind, err: error }, 'offering.not_stored');
    }
  }

  /** Retries with the waits of reconnecting (contract R42), in the same session or a later one. */
  private async readAgain(
    serverId: string,
    kind: OfferedKind,
    { error, reason }: { readonly error: unknown; readonly reason: string },
  ): Promise<void> {
    const key = `${serverId} ${kind}`;
    const waitMs = this.retries.schedule(key, () => this.refresh(serverId, [kind]));
    this.logger.warn(
      { server_id: serverId, kind, retry_in_ms: waitMs, err: error },
      'offerings.list_failed',
    );
    await this.warnings.noteFailure(serverId, kind, reason);
  }

  private isDegraded(serverId: string): boolean {
    return this.catalogue.current.servers.get(serverId)?.status === 'DEGRADED';
  }

  private defer(serverId: string, kind: OfferedKind): void {
    const kinds = this.deferred.get(serverId);
    if (kinds) kinds.add(kind);
    else this.deferred.set(serverId, new Set([kind]));
  }

  private readDeferred(serverId: string): void {
    const kinds = this.deferred.get(serverId);
    if (!kinds) return;
    this.deferred.delete(serverId);
    // A failure is handled where the list is read.
    void this.refresh(serverId, [...kinds]);
  }

  /** Replaces the lists in memory with those in the rows, of these servers or of all. */
  async load(serverIds?: readonly string[]): Promise<void> {
    await this.instructions.load(serverIds);
    const begun = this.steps;
    const loaded = new Map<string, Map<StoredKind, string[]>>();
    for await (const { serverId, kind, definitions } of this.store.load(serverIds)) {
      let kinds = loaded.get(serverId);
      if (!kinds) loaded.set(serverId, (kinds = new Map()));
      const known = kinds.get(kind);
      if (known) known.push(...definitions);
      else kinds.set(kind, [...definitions]);
    }
    for (const serverId of serverIds ?? loaded.keys()) {
      for (const kind of OFFERED_KINDS) {
        const definitions = loaded.get(serverId)?.get(kind);
        const list = definitions && (await storedList(kind, definitions));
        if ((this.writtenAt.get(`${serverId} ${kind}`) ?? 0) > begun) continue;
        this.set(serverId, kind, list);
        if (kind !== 'prompts') continue;
        const names = loaded.get(serverId)?.get(WITHHELD_PROMPTS) ?? [];
        this.withheldPrompts.set(serverId, new Set(names.map(nameIn)));
      }
    }
    this.show();
  }

  private bytesFor(serverId: string, kind: OfferedKind): number {
    const total = this.env.MCP_AGGREGATOR_MAX_OFFERED_BYTES;
    let ofAll = 0;
    let ofServer = 0;
    for (const [id, offering] of this.offerings) {
      for (const other of OFFERED_KINDS) {
        const bytes = offering[other]?.bytes ?? 0;
        if (id === serverId && other === kind) continue;
        ofAll += bytes;
        if (id === serverId) ofServer += bytes;
      }
    }
    return Math.max(0, Math.min(total - ofAll, total / SHARE_OF_ONE_SERVER - ofServer));
  }

  private set(serverId: string, kind: OfferedKind, list: OfferedList | undefined): void {
    const { [kind]: before, ...others } = this.offerings.get(serverId) ?? {};
    if (before?.digest === list?.digest) return;
    // Parse templates now, per server: on the first client request those of all servers would be parsed at once.
    if (list && kind === 'resourceTemplates') templatesOf(list);
    this.offerings.set(serverId, list ? { ...others, [kind]: list } : others);
  }

  private drop(serverId: string): void {
    this.instructions.forget(serverId);
    this.offerings.delete(serverId);
    this.deferred.delete(serverId);
    this.screened.delete(serverId);
    this.withheldPrompts.delete(serverId);
    this.warnings.forget(serverId);
    for (const kind of OFFERED_KINDS) {
      this.writtenAt.delete(`${serverId} ${kind}`);
      this.unwritten.delete(`${serverId} ${kind}`);
      this.retries.clear(`${serverId} ${kind}`);
    }
  }

  private servers(): OfferingServer[] {
    return shownOf(this.catalogue.current.servers.values()).map((server) => ({
      server,
      offering: this.offerings.get(server.id) ?? {},
    }));
  }

  private show(): void {
    const before = this.shown;
    const names = [...this.catalogue.current.servers.values()].map(({ name }) => name);
    const next = new OfferingsView(this.servers(), new Set(names), before);
    this.shown = next;
    this.warnings.update(() => this.servers());
    for (const kind of ['prompts', 'resources'] as const) {
      if (next.signatures[kind] === before.signatures[kind]) continue;
      void this.changed.tell(kind);
    }
  }
}

function nameIn(json: string): string {
  const name: unknown = JSON.parse(json);
  return typeof name === 'string' ? name : '';
}

/** Servers that are not disconnected by request, in order of registration. */
function shownOf(servers: Iterable<CatalogueServer>): CatalogueServer[] {
  return [...servers]
    .filter(({ status }) => !isWithdrawn(status))
    .toSorted((a, b) => Number(a.registeredAt) - Number(b.registeredAt) || (a.id < b.id ? -1 : 1));
}
