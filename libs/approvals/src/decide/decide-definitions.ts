import type { JsonObject, Sliced, Trust } from '@app/platform';
import type { DefinitionChange, GoneTool, KnownDefinition } from '../approval.js';
import { NO_OTHER_TOOLS } from '../findings/other-tools.js';
import { pinHashOf } from './pin.js';
import { formerNames } from './renames.js';
import { type Approved, verdictOn } from './verdict.js';

/** A prompt as a server lists it now, or its instructions. */
export interface ListedDefinition {
  readonly name: string;
  readonly definition: JsonObject;
  /** Its texts have characters that are not shown. */
  readonly hasHidden: boolean;
}

export interface ListedDefinitions {
  readonly trust: Trust;
  readonly listed: readonly ListedDefinition[];
  /** What is offered, by name; undefined when nothing of this kind was ever listed. */
  readonly offered: ReadonlyMap<string, JsonObject> | undefined;
  readonly known: readonly KnownDefinition[];
}

export interface DefinitionDecisions {
  /** Names of the listed definitions that are offered. */
  readonly offered: ReadonlySet<string>;
  readonly withheld: readonly {
    readonly listed: ListedDefinition;
    readonly isRejected: boolean;
    readonly change: DefinitionChange;
  }[];
  readonly gone: readonly GoneTool[];
  readonly settled: readonly string[];
  readonly published: readonly DefinitionChange[];
  readonly newlyWithheld: readonly DefinitionChange[];
  readonly cleared: readonly string[];
}

/** The rules of tools (contract R57) for definitions that are stored as a whole list. */
export function* decideDefinitions({
  trust,
  listed,
  offered: before,
  known,
}: ListedDefinitions): Sliced<DefinitionDecisions> {
  const knownByName = new Map(known.map((one) => [one.name, one]));
  const isFirstSight = before === undefined && known.length === 0;
  const isUnseen = isFirstSight && (trust === 'auto' || trust === 'pinned');
  const approvedOf = (name: string): Approved =>
    approvedIn(before?.get(name), knownByName.get(name));
  const offered = new Set<string>();
  const decisions = {
    withheld: [] as DefinitionDecisions['withheld'][number][],
    published: [] as DefinitionChange[],
    newlyWithheld: [] as DefinitionChange[],
    cleared: [] as string[],
  };
  const names = new Set(listed.map(({ name }) => name));
  const gone = goneIn([...(before?.keys() ?? []), ...knownByName.keys()], names, approvedOf);
  const unknown = isFirstSight ? [] : listed.filter(({ name }) => approvedOf(name).hash === null);
  const renamed = yield* formerNames(unknown, gone);
  for (const one of listed) {
    yield;
    const { name, definition, hasHidden } = one;
    const pinHash = pinHashOf(definition);
    const approved = approvedOf(name);
    const row = knownByName.get(name);
    if (isUnseen || approved.hash === pinHash) {
      offered.add(name);
      if (row && row.state !== 'GONE') decisions.cleared.push(name);
      continue;
    }
    const former = renamed.get(name);
    const { isOffered, isRejected, change } = verdictOn(
      name,
      { definition, pinHash, wasCleaned: hasHidden },
      { approved, known: row, renamedFrom: former && asApproved(former) },
      { trust, isFirstSight },
      { others: NO_OTHER_TOOLS },
    );
    if (isOffered) {
      offered.add(name);
      decisions.published.push(change);
      continue;
    }
    decisions.withheld.push({ listed: one, isRejected, change });
    if (row?.listedHash !== pinHash) decisions.newlyWithheld.push(change);
  }
  return {
    ...decisions,
    offered,
    gone: gone.filter(({ name }) => before?.has(name) || knownByName.get(name)?.state !== 'GONE'),
    settled: known
      .filter(({ name, approvedHash, state }) =>
        names.has(name) ? offered.has(name) : approvedHash === null && state !== 'REJECTED',
      )
      .map(({ name }) => name),
  };
}

function approvedIn(offered: JsonObject | undefined, known: KnownDefinition | undefined): Approved {
  if (offered) return { hash: pinHashOf(offered), definition: offered };
  // Without a hash the definition is that of the one it was renamed from.
  if (known?.approvedHash == null) return { hash: null, definition: null };
  return { hash: known.approvedHash, definition: known.approvedDefinition };
}

function asApproved({ name, approvedHash, approvedDefinition }: GoneTool) {
  return { name, hash: approvedHash, definition: approvedDefinition };
}

function goneIn(
  names: readonly string[],
  listed: ReadonlySet<string>,
  approvedOf: (name: string) => Approved,
): GoneTool[] {
  return [...new Set(names)].flatMap((name) => {
    const { hash, definition } = approvedOf(name);
    return listed.has(name) || hash === null || definition === null
      ? []
      : [{ name, approvedHash: hash, approvedDefinition: definition }];
  });
}
