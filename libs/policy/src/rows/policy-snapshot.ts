import { createHash } from 'node:crypto';
import type { Grant } from '../grants/grant.js';
import { subjectKey } from '../grants/grant.js';
import type { OverridesByTool, ToolOverride } from '../overrides/tool-override.js';
import { ViewNotFound } from '../policy.errors.js';
import { Offer } from '../views/offer.js';
import type { View } from '../views/view.js';

/** The rows, in one consistent state. */
export interface PolicyRows {
  readonly version: bigint;
  readonly views: readonly View[];
  readonly grants: readonly Grant[];
  readonly overrides: readonly ToolOverride[];
}

/** Immutable; every change creates the next one. */
export class PolicySnapshot {
  readonly version: bigint;
  /** Rows of views, rules, grants and overrides. */
  readonly rowCount: number;
  readonly viewsById: ReadonlyMap<string, View>;
  readonly viewsBySlug: ReadonlyMap<string, View>;
  readonly grantsById: ReadonlyMap<string, Grant>;
  readonly overrides: readonly ToolOverride[];
  private readonly grantsByView = new Map<string, Map<string, Grant>>();
  private readonly offers = new Map<string, Offer>();
  private readonly overridesByView = new Map<string, OverridesByTool>();
  private readonly overridesEverywhere: OverridesByTool;

  /** Offers of `before` that stay the same are kept, with what was computed from them. */
  constructor(rows: PolicyRows, before?: PolicySnapshot) {
    this.version = rows.version;
    this.rowCount = rows.views.reduce(
      (sum, { rules }) => sum + rules.length,
      rows.views.length + rows.grants.length + rows.overrides.length,
    );
    this.viewsById = new Map(rows.views.map((view) => [view.id, view]));
    this.viewsBySlug = new Map(rows.views.map((view) => [view.slug, view]));
    this.grantsById = new Map(rows.grants.map((grant) => [grant.id, grant]));
    this.overrides = rows.overrides;
    for (const grant of rows.grants) this.addGrant(grant);
    const byView = groupedBy(rows.overrides, ({ viewId }) => viewId);
    const everywhere = byTool(byView.get(null) ?? []);
    this.overridesEverywhere = everywhere;
    const digest = digestOf(everywhere);
    for (const view of rows.views) {
      const own = byTool(byView.get(view.id) ?? []);
      const overrides = own.size > 0 ? laidOverAll(own, everywhere) : everywhere;
      this.overridesByView.set(view.id, overrides);
      for (const isReadOnly of [false, true]) {
        const offer = new Offer(view, isReadOnly, overrides, `${digest} ${digestOf(own)}`);
        const known = before?.offers.get(offer.key);
        this.offers.set(offer.key, known?.digest === offer.digest ? known : offer);
      }
    }
  }

  /** Throws ViewNotFound. */
  viewNamed(slug: string): View {
    const view = this.viewsBySlug.get(slug);
    if (!view) throw new ViewNotFound(slug);
    return view;
  }

  offerOf(viewId: string, isReadOnly: boolean): Offer | undefined {
    return this.offers.get(Offer.keyOf(viewId, isReadOnly));
  }

  /** What a view would offer that is not saved, with the overrides that it has already. */
  offerOfDraft(view: View, isReadOnly: boolean): Offer {
    const overrides = this.overridesByView.get(view.id) ?? this.overridesEverywhere;
    return new Offer(view, isReadOnly, overrides, '');
  }

  /** By the subject, as `subjectKey` makes it. */
  grantsOn(viewId: string): ReadonlyMap<string, Grant> {
    return this.grantsByView.get(viewId) ?? NONE;
  }

  private addGrant(grant: Grant): void {
    let grants = this.grantsByView.get(grant.viewId);
    if (!grants) this.grantsByView.set(grant.viewId, (grants = new Map()));
    grants.set(subjectKey(grant), grant);
  }
}
const NONE: ReadonlyMap<string, Grant> = new Map();

export function groupedBy<T, K>(
  items: readonly T[],
  keyOf: (item: T) => K,
): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

function byTool(overrides: readonly ToolOverride[]): OverridesByTool {
  const byServer = new Map<string, Map<string, ToolOverride>>();
  for (const one of overrides) {
    let ofServer = byServer.get(one.serverId);
    if (!ofServer) byServer.set(one.serverId, (ofServer = new Map()));
    ofServer.set(one.tool, one);
  }
  return byServer;
}

function digestOf(overrides: OverridesByTool): string {
  const lines = [...overrides.values()]
    .flatMap((ofServer) => [...ofServer.values()])
    .map(({ id, updatedAt }) => `${id} ${+updatedAt}`)
    .join();
  return createHash('sha256').update(lines).digest('base64url');
}

/** An override for the view is laid over the one for every view. */
function laidOverAll(own: OverridesByTool, everywhere: OverridesByTool): OverridesByTool {
  const all = new Map(everywhere);
  for (const [serverId, ofServer] of own) {
    const merged = new Map(everywhere.get(serverId));
    for (const [tool, one] of ofServer) {
      const below = merged.get(tool);
      merged.set(tool, below ? laidOver(one, below) : one);
    }
    all.set(serverId, merged);
  }
  return all;
}

function laidOver(above: ToolOverride, below: ToolOverride): ToolOverride {
  return {
    ...above,
    name: above.name ?? below.name,
    title: above.title ?? below.title,
    description: above.description ?? below.description,
    annotations: above.annotations ?? below.annotations,
    hiddenArguments: [...new Set([...below.hiddenArguments, ...above.hiddenArguments])],
    presetArguments: { ...below.presetArguments, ...above.presetArguments },
    budgetTokens: above.budgetTokens ?? below.budgetTokens,
  };
}
