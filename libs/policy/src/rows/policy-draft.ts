import { type Actor, AuditStore } from '@app/access';
import type { JsonObject, Tx } from '@app/platform';
import { type Grant, subjectKey } from '../grants/grant.js';
import type { OverriddenTool, ToolOverride } from '../overrides/tool-override.js';
import { ViewNotFound } from '../policy.errors.js';
import type { View } from '../views/view.js';
import type { PolicyRows } from './policy-snapshot.js';
import type { PolicyStore } from './policy.store.js';

/** One change, for the history and the audit log. */
export interface NotedChange {
  /** `view.saved`, `grant.given`, … */
  readonly change: string;
  /** What was changed, in words. */
  readonly subject: string;
  /** Without values of preset arguments. */
  readonly before: JsonObject | null;
  readonly after: JsonObject | null;
  /** Of the audit entry. */
  readonly details: JsonObject;
  readonly actor: Actor;
}

/**
 * The rows of the policy in a transaction that changes them. They were read once and follow what is written here, so
 * that many changes cost one reading.
 */
export class PolicyDraft {
  private readonly viewsById: Map<string, View>;
  private readonly viewsBySlug: Map<string, View>;
  private readonly grantsById: Map<string, Grant>;
  private readonly grantsByKey = new Map<string, Grant>();
  private readonly overridesByKey = new Map<string, ToolOverride>();
  private readonly overridesByName = new Map<string, Set<ToolOverride>>();
  private noted = 0;

  constructor(
    rows: PolicyRows,
    private readonly store: PolicyStore,
    private readonly audit: AuditStore,
    private readonly tx: Tx,
  ) {
    this.viewsById = new Map(rows.views.map((view) => [view.id, view]));
    this.viewsBySlug = new Map(rows.views.map((view) => [view.slug, view]));
    this.grantsById = new Map(rows.grants.map((grant) => [grant.id, grant]));
    for (const grant of rows.grants) this.grantsByKey.set(grantKey(grant), grant);
    for (const override of rows.overrides) this.holdOverride(override);
  }

  /** How many changes were made so far. */
  get changes(): number {
    return this.noted;
  }

  get views(): readonly View[] {
    return [...this.viewsById.values()];
  }

  get grants(): readonly Grant[] {
    return [...this.grantsById.values()];
  }

  get overrides(): readonly ToolOverride[] {
    return [...this.overridesByKey.values()];
  }

  get counts(): { readonly views: number; readonly grants: number; readonly overrides: number } {
    return {
      views: this.viewsById.size,
      grants: this.grantsById.size,
      overrides: this.overridesByKey.size,
    };
  }

  viewOf(id: string): View | undefined {
    return this.viewsById.get(id);
  }

  findView(slug: string): View | undefined {
    return this.viewsBySlug.get(slug);
  }

  /** Throws ViewNotFound. */
  viewNamed(slug: string): View {
    const view = this.findView(slug);
    if (!view) throw new ViewNotFound(slug);
    return view;
  }

  grantOf(id: string): Grant | undefined {
    return this.grantsById.get(id);
  }

  grantOn(viewId: string, subject: Pick<Grant, 'subjectKind' | 'subject'>): Grant | undefined {
    return this.grantsByKey.get(grantKey({ viewId, ...subject }));
  }

  /** `viewId`: null for the one for every view. */
  overrideOf(tool: OverriddenTool, viewId: string | null): ToolOverride | undefined {
    return this.overridesByKey.get(overrideKey(tool, viewId));
  }

  /** That give a tool this name. */
  overridesNamed(name: string): Iterable<ToolOverride> {
    return this.overridesByName.get(name) ?? [];
  }

  async saveView(view: View): Promise<void> {
    await this.store.saveView(view, this.tx);
    this.viewsById.set(view.id, view);
    this.viewsBySlug.set(view.slug, view);
  }

  /** With its grants and overrides, which are deleted with its row. */
  async deleteView({ id, slug }: View): Promise<void> {
    await this.store.deleteView(id, this.tx);
    this.viewsById.delete(id);
    this.viewsBySlug.delete(slug);
    for (const grant of this.grants) if (grant.viewId === id) this.dropGrant(grant);
    for (const override of this.overrides) if (override.viewId === id) this.dropOverride(override);
  }

  async saveGrant(grant: Grant): Promise<void> {
    await this.store.saveGrant(grant, this.tx);
    this.grantsById.set(grant.id, grant);
    this.grantsByKey.set(grantKey(grant), grant);
  }

  async deleteGrant(grant: Grant): Promise<void> {
    await this.store.deleteGrant(grant.id, this.tx);
    this.dropGrant(grant);
  }

  async saveOverride(override: ToolOverride): Promise<void> {
    await this.store.saveOverride(override, this.tx);
    const before = this.overridesByKey.get(overrideKey(override, override.viewId));
    if (before) this.dropOverride(before);
    this.holdOverride(override);
  }

  async deleteOverride(override: ToolOverride): Promise<void> {
    await this.store.deleteOverride(override.id, this.tx);
    this.dropOverride(override);
  }

  /** Part of every change. */
  async note({ details, actor, ...entry }: NotedChange): Promise<void> {
    this.noted += 1;
    await this.audit.record({ event: entry.change, actor, details }, this.tx);
    await this.store.note({ ...entry, actor: actor.name }, this.tx);
  }

  private dropGrant(grant: Grant): void {
    this.grantsById.delete(grant.id);
    this.grantsByKey.delete(grantKey(grant));
  }

  private holdOverride(override: ToolOverride): void {
    this.overridesByKey.set(overrideKey(override, override.viewId), override);
    if (override.name === null) return;
    const named = this.overridesByName.get(override.name);
    if (named) named.add(override);
    else this.overridesByName.set(override.name, new Set([override]));
  }

  private dropOverride(override: ToolOverride): void {
    this.overridesByKey.delete(overrideKey(override, override.viewId));
    if (override.name !== null) this.overridesByName.get(override.name)?.delete(override);
  }
}

function grantKey({
  viewId,
  ...subject
}: Pick<Grant, 'viewId' | 'subjectKind' | 'subject'>): string {
  return `${viewId} ${subjectKey(subject)}`;
}

/** Ids have no space. */
function overrideKey({ serverId, tool }: OverriddenTool, viewId: string | null): string {
  return `${viewId} ${serverId} ${tool}`;
}
