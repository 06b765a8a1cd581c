import type { DiscoveredTool, StoredTool, ToolDiff, ToolToWrite, Withheld } from '@app/catalogue';
import type { JsonObject, Sliced, Trust } from '@app/platform';
import type { DefinitionChange, GoneTool, KnownDefinition } from '../approval.js';
import type { Surroundings } from '../findings/findings.js';
import { changedMembers } from './field-changes.js';
import { pinHashOf } from './pin.js';
import { formerNames } from './renames.js';
import { type Approved, type Sighting, type Verdict, verdictOn } from './verdict.js';

export interface ListedTools {
  readonly trust: Trust;
  readonly listed: readonly DiscoveredTool[];
  readonly stored: readonly StoredTool[];
  /** Of the stored tools that `comparedTools` names. */
  readonly definitions: ReadonlyMap<number, JsonObject>;
  readonly known: readonly KnownDefinition[];
}

/** A tool that is not offered, with what is to be stored about it. */
export interface WithheldTool {
  readonly tool: DiscoveredTool;
  readonly isRejected: boolean;
  readonly change: DefinitionChange;
}

export interface ToolDecisions {
  readonly diff: ToolDiff;
  readonly withheld: readonly WithheldTool[];
  readonly gone: readonly GoneTool[];
  /** Names about which nothing has to be known any more. */
  readonly settled: readonly string[];
  /** Changes that are offered without a decision. */
  readonly published: readonly DefinitionChange[];
  /** Withheld by this listing, and not before. */
  readonly newlyWithheld: readonly DefinitionChange[];
  /** Tools that were withheld and are offered again. */
  readonly cleared: readonly string[];
  readonly isFirstSight: boolean;
}

/** Stored tools whose definition is needed to decide. */
export function comparedTools(
  stored: readonly StoredTool[],
  listed: readonly DiscoveredTool[],
): number[] {
  const now = new Map(listed.map((tool) => [tool.originalName, tool]));
  return stored
    .filter((tool) => {
      const after = now.get(tool.originalName);
      if (!after) return true;
      return tool.pinHash === null
        ? tool.contentHash !== after.contentHash
        : tool.pinHash !== after.pinHash;
    })
    .map(({ id }) => id);
}

/** Which of the listed tools are offered, and what has to be written for that. */
export function decideTools(input: ListedTools, surroundings: Surroundings): Sliced<ToolDecisions> {
  return new Deciding(input, surroundings).decide();
}

class Deciding {
  private readonly storedByName: ReadonlyMap<string, StoredTool>;
  private readonly knownByName: ReadonlyMap<string, KnownDefinition>;
  private readonly sighting: Sighting;
  private readonly added: ToolToWrite[] = [];
  private readonly changed: (ToolToWrite & { readonly id: number })[] = [];
  private readonly marked: { readonly id: number; readonly withheld: Withheld | null }[] = [];
  private readonly pinned: { readonly id: number; readonly pinHash: string }[] = [];
  private readonly withheld: WithheldTool[] = [];
  private readonly settled: string[] = [];
  private readonly published: DefinitionChange[] = [];
  private readonly newlyWithheld: DefinitionChange[] = [];
  private readonly cleared: string[] = [];

  constructor(
    private readonly input: ListedTools,
    private readonly surroundings: Surroundings,
  ) {
    this.storedByName = new Map(input.stored.map((tool) => [tool.originalName, tool]));
    this.knownByName = new Map(input.known.map((one) => [one.name, one]));
    const isFirstSight =
      !input.stored.some((tool) => tool.withheld?.isNew !== true) &&
      !input.known.some(({ approvedHash }) => approvedHash !== null);
    this.sighting = { trust: input.trust, isFirstSight };
  }

  *decide(): Sliced<ToolDecisions> {
    const { listed, stored } = this.input;
    const gone = this.gone();
    const renamed = yield* formerNames(this.unknownAmong(listed), [...gone, ...this.goneBefore()]);
    for (const tool of listed) {
      yield;
      this.decideOn(tool, renamed.get(tool.originalName));
    }
    const names = new Set(listed.map(({ originalName }) => originalName));
    const removed = stored.filter(({ originalName }) => !names.has(originalName));
    const { added, changed, marked, pinned } = this;
    return {
      diff: { added, changed, marked, pinned, removed: removed.map(({ id }) => id) },
      withheld: this.withheld,
      gone,
      settled: [...this.settled, ...this.forgotten(removed)],
      published: this.published,
      newlyWithheld: this.newlyWithheld,
      cleared: this.cleared,
      isFirstSight: this.sighting.isFirstSight,
    };
  }

  private decideOn(tool: DiscoveredTool, renamedFrom: GoneTool | undefined): void {
    const stored = this.storedByName.get(tool.originalName);
    const known = this.knownByName.get(tool.originalName);
    const approved = this.approvedOf(tool.originalName);
    if (this.isOfferedUnseen(known) || this.isApproved(tool, stored, approved)) {
      this.offer(tool, stored);
      return;
    }
    const verdict = verdictOn(
      tool.originalName,
      tool,
      {
        approved,
        known,
        renamedFrom: renamedFrom && {
          name: renamedFrom.name,
          hash: renamedFrom.approvedHash,
          definition: renamedFrom.approvedDefinition,
        },
      },
      this.sighting,
      this.surroundings,
    );
    if (verdict.isOffered) {
      this.offer(tool, stored);
      this.published.push(verdict.change);
    } else this.withhold(tool, stored, verdict);
  }

  /** What a server lists first is not looked at, unless a person has rejected it. */
  private isOfferedUnseen(known: KnownDefinition | undefined): boolean {
    const { trust, isFirstSight } = this.sighting;
    return isFirstSight && (trust === 'auto' || trust === 'pinned') && known?.state !== 'REJECTED';
  }

  private isApproved(
    tool: DiscoveredTool,
    stored: StoredTool | undefined,
    approved: Approved,
  ): boolean {
    if (approved.hash === null) return false;
    if (approved.hash === tool.pinHash) return true;
    // A row of a version without pins has the definition as it was published, without hidden characters.
    if (stored?.pinHash !== null || stored.withheld?.isNew === true) return false;
    return (
      stored.contentHash === tool.contentHash ||
      (!tool.wasCleaned && approved.hash === pinHashOf(tool.definition))
    );
  }

  private offer(tool: DiscoveredTool, stored: StoredTool | undefined): void {
    if (this.knownByName.has(tool.originalName)) this.settled.push(tool.originalName);
    if (!stored) {
      this.added.push({ ...tool, withheld: null });
      return;
    }
    if (stored.withheld) this.cleared.push(tool.originalName);
    const { id } = stored;
    if (stored.contentHash !== tool.contentHash) {
      this.changed.push({ ...tool, id, withheld: null });
    } else if (stored.withheld) this.marked.push({ id, withheld: null });
    if (stored.contentHash === tool.contentHash && stored.pinHash !== tool.pinHash) {
      this.pinned.push({ id, pinHash: tool.pinHash });
    }
  }

  private withhold(tool: DiscoveredTool, stored: StoredTool | undefined, verdict: Verdict): void {
    const { change, isRejected } = verdict;
    const hasApproved = stored !== undefined && stored.withheld?.isNew !== true;
    const withheld: Withheld = {
      hash: tool.pinHash,
      isNew: !hasApproved,
      fields: change.approvedDefinition ? changedMembers(change.changes) : [],
      findings: [...new Set(change.findings.map(({ code }) => code))],
    };
    if (!stored) this.added.push({ ...tool, withheld });
    else if (!hasApproved && stored.contentHash !== tool.contentHash) {
      this.changed.push({ ...tool, id: stored.id, withheld });
    } else if (JSON.stringify(stored.withheld) !== JSON.stringify(withheld)) {
      this.marked.push({ id: stored.id, withheld });
    }
    this.withheld.push({ tool, isRejected, change });
    if (stored?.withheld?.hash !== tool.pinHash) this.newlyWithheld.push(change);
  }

  private approvedOf(name: string): Approved {
    const stored = this.storedByName.get(name);
    if (!stored || stored.withheld?.isNew === true) {
      const known = this.knownByName.get(name);
      // Without a hash the definition is that of the tool it was renamed from.
      if (known?.approvedHash == null) return { hash: null, definition: null };
      return { hash: known.approvedHash, definition: known.approvedDefinition };
    }
    const definition = this.input.definitions.get(stored.id) ?? null;
    if (stored.pinHash !== null) return { hash: stored.pinHash, definition };
    return { hash: definition ? pinHashOf(definition) : stored.contentHash, definition };
  }

  /** Approved tools that were listed before, and are not now. */
  private gone(): GoneTool[] {
    const names = new Set(this.input.listed.map(({ originalName }) => originalName));
    return this.input.stored.flatMap((tool) => {
      if (names.has(tool.originalName)) return [];
      const { hash, definition } = this.approvedOf(tool.originalName);
      if (hash === null || definition === null) return [];
      return [{ name: tool.originalName, approvedHash: hash, approvedDefinition: definition }];
    });
  }

  private goneBefore(): GoneTool[] {
    return this.input.known.flatMap(({ name, state, approvedHash, approvedDefinition }) =>
      state === 'GONE' && approvedHash !== null && approvedDefinition !== null
        ? [{ name, approvedHash, approvedDefinition }]
        : [],
    );
  }

  private unknownAmong(
    listed: readonly DiscoveredTool[],
  ): { readonly name: string; readonly definition: JsonObject }[] {
    if (this.sighting.isFirstSight) return [];
    return listed.flatMap(({ originalName: name, definition }) =>
      this.approvedOf(name).definition === null && !this.isStoredApproved(name)
        ? [{ name, definition }]
        : [],
    );
  }

  private isStoredApproved(name: string): boolean {
    const stored = this.storedByName.get(name);
    return stored !== undefined && stored.withheld?.isNew !== true;
  }

  /** Removed before they were approved, unless a person rejected them: they must not come back by leaving. */
  private forgotten(removed: readonly StoredTool[]): string[] {
    return removed.flatMap(({ originalName }) => {
      const known = this.knownByName.get(originalName);
      const isForgotten = known && known.approvedHash === null && known.state !== 'REJECTED';
      return isForgotten ? [originalName] : [];
    });
  }
}
