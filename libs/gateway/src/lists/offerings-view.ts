import type { CatalogueServer } from '@app/catalogue';
import { canonicalName, MAX_WIRE_NAME, wireName } from '@app/mcp-protocol';
import type { JsonValue, RawJsonObject } from '@app/platform';
import {
  merged,
  OFFERED_KINDS,
  type OfferedKind,
  OfferedList,
  type Offering,
} from './offered-list.js';
import type { Offer } from '@app/policy';
import { createHash } from 'node:crypto';
import { keyIn, type PageItem, writePage, WrittenPages } from './paging.js';
import { UriTemplate } from './uri-template.js';

export interface OfferingServer {
  readonly server: CatalogueServer;
  readonly offering: Offering;
}

export interface OfferedPrompt {
  readonly originalName: string;
  readonly server: CatalogueServer;
}

/**
 * Immutable view of the offerings of all servers. Lists are not merged in advance: a page is merged from the
 * ordered lists of the servers and serialised once. An item that several servers list belongs to the one
 * registered first, regardless of names and of the order of connects.
 */
export class OfferingsView {
  /** Change whenever the lists that clients see change. */
  readonly signatures: Readonly<Record<'prompts' | 'resources', string>>;
  private readonly parts = new WeakMap<Offer, OfferingsView>();
  private readonly pages: Readonly<Record<'prompts' | 'resources', WrittenPages>>;

  /** `servers` in order of registration; `names` of all servers, listed or not. */
  constructor(
    private readonly servers: readonly OfferingServer[],
    private readonly names: ReadonlySet<string>,
    before?: OfferingsView,
  ) {
    this.signatures = {
      prompts: signature(servers, ['prompts']),
      resources: signature(servers, ['resources', 'resourceTemplates']),
    };
    const pagesOf = (list: 'prompts' | 'resources'): WrittenPages =>
      before?.signatures[list] === this.signatures[list] ? before.pages[list] : new WrittenPages();
    this.pages = { prompts: pagesOf('prompts'), resources: pagesOf('resources') };
  }

  /** The part that a view offers, computed once. */
  offeredBy(offer: Offer): OfferingsView {
    if (offer.isEverything) return this;
    let part = this.parts.get(offer);
    if (!part) {
      const servers = this.servers.map(({ server, offering }) => ({
        server,
        offering: offeredPart(offering, server.id, offer),
      }));
      this.parts.set(offer, (part = new OfferingsView(servers, this.names)));
    }
    return part;
  }

  /** Whether a server lists the URI, or a template that it matches. */
  lists(serverId: string, uri: string): boolean {
    const found = this.servers.find(({ server }) => server.id === serverId);
    const { resources, resourceTemplates } = found?.offering ?? {};
    if (resources?.find(uri)) return true;
    return resourceTemplates !== undefined && mostSpecific(resourceTemplates, uri) !== undefined;
  }

  page(kind: OfferedKind, cursor: JsonValue | undefined): RawJsonObject {
    const after = keyIn(cursor);
    const pages = this.pages[kind === 'prompts' ? 'prompts' : 'resources'];
    return pages.get(
      after === undefined ? kind : `${kind} ${after}`,
      () => writePage(kind, this.itemsAfter(kind, after)).page,
    );
  }

  /** By listed name, by `server.prompt`, or by a bare name that only one server has. */
  findPrompt(name: string): OfferedPrompt | undefined {
    for (const { server, offering } of this.servers) {
      const originalName = offering.prompts && originalNameOf(server.name, offering.prompts, name);
      if (originalName !== undefined) return { server, originalName };
    }
    const [dot, seam] = [name.indexOf('.'), name.indexOf('__')];
    const named = this.servers.find(({ server }) => dot > 0 && server.name === name.slice(0, dot));
    if (named?.offering.prompts?.find(name.slice(dot + 1))) {
      return { server: named.server, originalName: name.slice(dot + 1) };
    }
    // The name refers to a server that is not available now; it must not resolve to another server's prompt.
    if ([dot, seam].some((at) => at > 0 && this.names.has(name.slice(0, at)))) return undefined;
    const [bare, other] = this.servers.filter(({ offering }) => offering.prompts?.find(name));
    return bare && !other ? { server: bare.server, originalName: name } : undefined;
  }

  /** The server that lists the URI, else the one with the most specific matching template. */
  ownerOf(uri: string): CatalogueServer | undefined {
    for (const { server, offering } of this.servers) {
      if (offering.resources?.find(uri)) return server;
    }
    let owner: CatalogueServer | undefined;
    let length = -1;
    for (const { server, offering } of this.servers) {
      const templates = offering.resourceTemplates;
      const found = templates && mostSpecific(templates, uri);
      if (!found || found.prefix.length <= length) continue;
      owner = server;
      length = found.prefix.length;
    }
    return owner;
  }

  /** The server of a completion reference, which names a template or a URI. */
  ownerOfReference(reference: string): CatalogueServer | undefined {
    const lists = this.servers.find(({ offering }) => offering.resourceTemplates?.find(reference));
    return lists?.server ?? this.ownerOf(reference);
  }

  private itemsAfter(kind: OfferedKind, after: string | undefined): Generator<PageItem> {
    if (kind === 'prompts') return this.promptsAfter(after);
    const lists = this.servers.flatMap(({ offering }) => offering[kind] ?? []);
    return merged(lists, after);
  }

  /** Ordered by canonical name. Names for clients are computed only for the items that are read. */
  private *promptsAfter(after: string | undefined): Generator<PageItem> {
    const ordered = this.servers
      .map(({ server, offering }) => ({ name: server.name, prompts: offering.prompts }))
      .toSorted((a, b) => (`${a.name}.` < `${b.name}.` ? -1 : 1));
    for (const { name, prompts } of ordered) {
      const prefix = canonicalName(name, '');
      const isCut = after?.startsWith(prefix) === true;
      if (!prompts || (after !== undefined && !isCut && prefix < after)) continue;
      const start = prompts.startAfter(isCut ? after.slice(prefix.length) : undefined);
      for (let i = start; i < prompts.items.length; i++) {
        const item = prompts.items[i];
        if (item) yield { key: prefix + item.key, json: renamed(item, wireName(name, item.key)) };
      }
    }
  }
}

function offeredPart(offering: Offering, serverId: string, offer: Offer): Offering {
  const part: { -readonly [kind in OfferedKind]?: OfferedList } = {};
  for (const kind of OFFERED_KINDS) {
    const list = offering[kind];
    if (!list) continue;
    const offered = kind === 'prompts' ? 'prompt' : 'resource';
    part[kind] = partOf(list, offer, (key) => offer.offers(offered, serverId, key));
  }
  return part;
}

function partOf(list: OfferedList, offer: Offer, isOffered: (key: string) => boolean): OfferedList {
  const items = list.items.filter(({ key }) => isOffered(key));
  if (items.length === list.items.length) return list;
  const digest = createHash('sha256').update(list.digest).update(offer.digest).digest('base64url');
  return new OfferedList(items, digest, list.bytes);
}

function signature(servers: readonly OfferingServer[], kinds: readonly OfferedKind[]): string {
  return servers
    .flatMap(({ server, offering }) => {
      const lists = kinds.map((kind) => offering[kind]);
      if (lists.every((list) => !list || list.items.length === 0)) return [];
      return [`${server.id} ${server.name} ${lists.map((list) => list?.digest ?? '').join(' ')}`];
    })
    .join('\n');
}

function renamed({ json }: PageItem, name: string): string {
  return JSON.stringify({ ...(JSON.parse(json) as object), name });
}

/** Resolves the name that clients use to the original name of the prompt. */
function originalNameOf(server: string, prompts: OfferedList, name: string): string | undefined {
  const plain = name.startsWith(`${server}__`) ? name.slice(server.length + 2) : undefined;
  if (plain !== undefined && prompts.find(plain) && wireName(server, plain) === name) return plain;
  // Shortened names cannot be reversed: compute the names of all prompts of the server once and look it up.
  const beginning = server.slice(0, SHORTENED_CHARS).replace(/_+$/, '');
  if (!name.startsWith(beginning) || !SHORTENED.test(name)) return undefined;
  let known = wireNames.get(prompts);
  if (known?.server !== server) {
    const names = new Map(prompts.items.map(({ key }) => [wireName(server, key), key]));
    wireNames.set(prompts, (known = { server, names }));
  }
  return known.names.get(name);
}
const SHORTENED = /__[a-z2-7]{13}$/;
const SHORTENED_CHARS = MAX_WIRE_NAME - 15;
const wireNames = new WeakMap<
  OfferedList,
  { readonly server: string; readonly names: ReadonlyMap<string, string> }
>();

function mostSpecific(list: OfferedList, uri: string): UriTemplate | undefined {
  return templatesOf(list).find((template) => template.matches(uri));
}

/** Most specific first: by the length of the literal prefix. */
export function templatesOf(list: OfferedList): readonly UriTemplate[] {
  let ordered = templates.get(list);
  if (!ordered) {
    ordered = list.items
      .map(({ key }) => new UriTemplate(key))
      .toSorted((a, b) => b.prefix.length - a.prefix.length);
    templates.set(list, ordered);
  }
  return ordered;
}
const templates = new WeakMap<OfferedList, readonly UriTemplate[]>();
