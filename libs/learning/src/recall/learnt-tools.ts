import { Inject, Injectable } from '@nestjs/common';
import { Catalogue, textOfTool } from '@app/catalogue';
import type { CatalogueReplaced } from '@app/events';
import { Clock, CoalescedRuns, Env, inSlices, type Sliced } from '@app/platform';
import { StaticModel } from '@app/vectors';
import { type LearntTool, keyOf, type StoredUses, ToolUseStore } from '../rows/tool-use.store.js';
import { together, type Uses } from '../rows/uses.js';
import { LearntView } from './learnt-view.js';

interface LearntUses extends LearntTool {
  /** Of all callers. */
  readonly uses: Uses;
}

/** What was learnt, in memory by view: a copy of the rows, so that no search reads the database. */
@Injectable()
export class LearntTools {
  private views: ReadonlyMap<string, LearntView> = new Map();
  /** Serialises changes, which read rows first. */
  private last: Promise<void> = Promise.resolve();
  private readonly fullLoads = new CoalescedRuns();

  constructor(
    private readonly rows: ToolUseStore,
    private readonly model: StaticModel,
    private readonly catalogue: Catalogue,
    private readonly clock: Clock,
    @Inject(Env) private readonly env: Env,
  ) {}

  /** The number of tools in all views; there are at least as many rows. */
  get size(): number {
    let size = 0;
    for (const view of this.views.values()) size += view.size;
    return size;
  }

  /** Undefined if nothing was learnt in the view. */
  of(viewId: string): LearntView | undefined {
    const view = this.views.get(viewId);
    return view && view.size > 0 ? view : undefined;
  }

  /** Makes memory equal to the rows of these tools; of all tools without `tools`. */
  load(tools?: readonly LearntTool[]): Promise<void> {
    if (!this.env.MCP_AGGREGATOR_SEARCH_LEARNING) return Promise.resolve();
    if (tools) return this.inOrder(() => this.loadSome(tools));
    return this.fullLoads.run('all', () => this.inOrder(() => this.loadAll()));
  }

  private learntOf(toolId: number): LearntTool[] {
    return [...this.views]
      .filter(([, view]) => view.has(toolId))
      .map(([viewId]) => ({ viewId, toolId }));
  }

  private inOrder(work: () => Promise<void>): Promise<void> {
    const working = this.last.then(work);
    this.last = working.catch(() => undefined);
    return working;
  }

  /** The texts of tools have changed, or tools that were learnt about are known now. No write waits for it. */
  follow({ written, removed }: CatalogueReplaced): void {
    const gone = removed.flatMap((toolId) => this.learntOf(toolId));
    // Those of withheld tools have rows; the others lost them with the tool. `KeepUsesJob` tries again.
    if (gone.length > 0) this.load(gone).catch(() => undefined);
    if (written.length === 0) return;
    void this.inOrder(() => inSlices(this.describing(new Set(written))));
  }

  private *describing(written: ReadonlySet<number>): Sliced<void> {
    for (const view of this.views.values()) {
      for (const toolId of view.toolIds()) {
        if (!written.has(toolId)) continue;
        yield;
        view.describe(toolId, this.vectorOf(toolId));
      }
    }
  }

  private async loadAll(): Promise<void> {
    const views = new Map<string, LearntView>();
    for await (const learnt of this.read()) this.put(views, learnt);
    this.views = views;
  }

  private async loadSome(tools: readonly LearntTool[]): Promise<void> {
    const gone = new Map(tools.map((tool) => [keyOf(tool), tool]));
    const views = new Map(this.views);
    for await (const learnt of this.read(tools)) {
      gone.delete(keyOf(learnt));
      this.put(views, learnt);
    }
    for (const { viewId, toolId } of gone.values()) views.get(viewId)?.remove(toolId);
    this.views = views;
  }

  private put(views: Map<string, LearntView>, { viewId, toolId, uses }: LearntUses): void {
    let view = views.get(viewId);
    if (!view) views.set(viewId, (view = new LearntView(this.model.dimensions)));
    view.set(toolId, uses, this.vectorOf(toolId));
  }

  /** Of the text; zeros for one without a known word, and for a tool that is not in the catalogue yet. */
  private vectorOf(toolId: number): Float32Array {
    const tool = this.catalogue.current.toolsById.get(toolId);
    const vector = tool && this.model.embed(textOfTool(tool));
    return vector ?? new Float32Array(this.model.dimensions);
  }

  /** The uses of all callers together, tool by tool. */
  private async *read(tools?: readonly LearntTool[]): AsyncGenerator<LearntUses> {
    let ofTool: StoredUses[] = [];
    for await (const page of this.rows.read(this.model.id, this.clock.now(), tools)) {
      for (const one of page) {
        const [first] = ofTool;
        if (first && keyOf(first) !== keyOf(one)) {
          yield summed(first, ofTool);
          ofTool = [];
        }
        ofTool.push(one);
      }
    }
    const [first] = ofTool;
    if (first) yield summed(first, ofTool);
  }
}

function summed({ viewId, toolId }: LearntTool, all: readonly StoredUses[]): LearntUses {
  return { viewId, toolId, uses: together(all.map(({ uses }) => uses)) };
}
