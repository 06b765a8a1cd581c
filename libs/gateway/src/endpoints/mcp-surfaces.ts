import { Injectable } from '@nestjs/common';
import { Catalogue } from '@app/catalogue';
import type { McpSurface } from '@app/mcp-server';
import { type Access, Policy } from '@app/policy';
import { ServerNotFound } from '@app/registry';
import { isDeepStrictEqual } from 'node:util';
import type { ListChange } from '../notify/list-change-notices.js';
import { AggregateSurface } from './aggregate.surface.js';
import { SearchSurface } from './search.surface.js';
import { ServerSurface } from './server.surface.js';
import { ShownOffer } from './shown-offer.js';
import { SurfaceDependencies } from './surface-dependencies.js';

/** The surfaces, one for each endpoint, view and level that clients use; they live as long as the view. */
@Injectable()
export class McpSurfaces {
  private readonly aggregates = new Map<string, AggregateSurface>();
  private readonly searches = new Map<string, SearchSurface>();
  private readonly servers = new Map<string, Map<string, ServerSurface>>();
  private readonly shown = new Map<string, ShownOffer>();

  constructor(
    private readonly policy: Policy,
    private readonly catalogue: Catalogue,
    private readonly deps: SurfaceDependencies,
  ) {}

  aggregate(access: Access): McpSurface {
    const shown = this.shownTo(access);
    let surface = this.aggregates.get(shown.key);
    if (!surface)
      this.aggregates.set(shown.key, (surface = new AggregateSurface(shown, this.deps)));
    return surface;
  }

  search(access: Access): McpSurface {
    const shown = this.shownTo(access);
    let surface = this.searches.get(shown.key);
    if (!surface) this.searches.set(shown.key, (surface = new SearchSurface(shown, this.deps)));
    return surface;
  }

  ofServer(access: Access, name: string): McpSurface {
    const shown = this.shownTo(access);
    const server = shown.catalogue.serversByName.get(name);
    if (!server) throw new ServerNotFound(name);
    let surfaces = this.servers.get(server.id);
    if (!surfaces) this.servers.set(server.id, (surfaces = new Map()));
    let surface = surfaces.get(shown.key);
    if (!surface) surfaces.set(shown.key, (surface = new ServerSurface(server, shown, this.deps)));
    surface.follow(server);
    return surface;
  }

  forget(serverId: string): void {
    this.servers.delete(serverId);
  }

  /** Notifies clients whose lists of tools have changed, and forgets deleted views. */
  followCatalogue(): void {
    for (const surface of this.aggregates.values()) surface.followCatalogue();
    for (const surface of this.searches.values()) surface.followCatalogue();
    for (const surfaces of this.servers.values())
      for (const surface of surfaces.values()) surface.followCatalogue();
    for (const [key, shown] of this.shown) {
      if (!shown.isGone) continue;
      this.shown.delete(key);
      this.aggregates.delete(shown.key);
      this.searches.delete(shown.key);
      for (const surfaces of this.servers.values()) surfaces.delete(shown.key);
    }
  }

  listChanged(kind: ListChange['kind']): void {
    for (const surface of this.aggregates.values()) surface.listChanged(kind);
  }

  /** Notifies the clients of views that offer something else now. */
  policyChanged(): void {
    this.followCatalogue();
    for (const shown of this.shown.values()) {
      const before = shown.takeReplaced();
      if (!before) continue;
      this.searches.get(shown.key)?.followOffer(before);
      // Only rules decide on prompts and resources.
      if (isDeepStrictEqual(before.view.rules, shown.offer.view.rules)) continue;
      const ofServers = [...this.servers.values()].map((surfaces) => surfaces.get(shown.key));
      for (const surface of [this.aggregates.get(shown.key), ...ofServers]) {
        surface?.listChanged('prompts');
        surface?.listChanged('resources');
      }
    }
  }

  private shownTo({ offer, view }: Access): ShownOffer {
    let shown = this.shown.get(offer.key);
    if (!shown) {
      shown = new ShownOffer(this.policy, this.catalogue, view.id, offer.isReadOnly);
      this.shown.set(offer.key, shown);
    }
    return shown;
  }
}
