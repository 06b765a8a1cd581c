import type { JsonObject, Trust } from '@app/platform';
import type { DefinitionChange, GoneTool, KnownDefinition } from '../approval.js';
import { NO_OTHER_TOOLS } from '../findings/other-tools.js';
import { pinHashOf } from './pin.js';
import { type Approved, verdictOn } from './verdict.js';

/** A prompt as a server lists it now. */
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
export function decideDefinitions({
  trust,
  listed,
  offered: before,
  known,
}: ListedDefinitions): DefinitionDecisions {
  const knownByName = new Map(known.map((one) => [one.name, one]));
  const isFirstSight = before === undefined && !known.some((one) => one.approvedHash !== null);
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
  for (const one of listed) {
    const { name, definition, hasHidden } = one;
    const pinHash = pinHashOf(definition);
    const approved = approvedOf(name);
    const row = knownByName.get(name);
    if ((isUnseen && row?.state !== 'REJECTED') || approved.hash === pinHash) {
      offered.add(name);
      if (row && row.state !== 'GONE') decisions.cleared.push(name);
      continue;
    }
    const { isOffered, isRejected, change } = verdictOn(
      name,
      { definition, pinHash, wasCleaned: hasHidden },
      { approved, known: row, renamedFrom: undefined },
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
  const names = new Set(listed.map(({ name }) => name));
  return {
    ...decisions,
    offered,
    gone: goneIn(
      [
        ...(before?.keys() ?? []),
        ...known.flatMap(({ name, state }) => (state === 'GONE' ? [] : [name])),
      ],
      names,
      approvedOf,
    ),
    settled: known
      .filter(({ name, approvedHash, state }) =>
        names.has(name) ? offered.has(name) : approvedHash === null && state !== 'REJECTED',
      )
      .map(({ name }) => name),
  };
}

function approvedIn(offered: JsonObject | undefined, known: KnownDefinition | undefined): Approved {
  if (offered) return { hash: pinHashOf(offered), definition: offered };
  return { hash: known?.approvedHash ?? null, definition: known?.approvedDefinition ?? null };
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
