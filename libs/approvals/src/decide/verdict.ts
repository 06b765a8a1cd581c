import type { JsonObject, Trust } from '@app/platform';
import type { DefinitionChange, KnownDefinition } from '../approval.js';
import { type Finding, isAlarming } from '../findings/finding.js';
import { findingsIn, type Surroundings } from '../findings/findings.js';
import { fieldChanges } from './field-changes.js';

/** What was approved, and where a change of it is judged. */
export interface Sighting {
  readonly trust: Trust;
  /** Nothing of the server has been approved yet, so that there is nothing to compare with. */
  readonly isFirstSight: boolean;
}

export interface ComparedDefinition {
  readonly definition: JsonObject;
  readonly pinHash: string;
  readonly wasCleaned: boolean;
}

export interface Approved {
  readonly hash: string | null;
  readonly definition: JsonObject | null;
}

export interface Verdict {
  readonly isOffered: boolean;
  readonly isRejected: boolean;
  readonly change: DefinitionChange;
}

/** Whether a definition is offered that differs from the approved one, or that is new. */
export function verdictOn(
  name: string,
  listed: ComparedDefinition,
  {
    approved,
    known,
    renamedFrom,
  }: {
    readonly approved: Approved;
    readonly known: KnownDefinition | undefined;
    /** An approved definition that is gone, and that this one resembles. */
    readonly renamedFrom: (Approved & { readonly name: string }) | undefined;
  },
  sighting: Sighting,
  surroundings: Surroundings,
): Verdict {
  const before = approved.definition ?? renamedFrom?.definition ?? null;
  const changes = fieldChanges(before ?? {}, listed.definition);
  const findings = findingsIn({ name, before, listed, changes }, surroundings);
  const decided = known?.listedHash === listed.pinHash ? known.state : undefined;
  return {
    isOffered: decided === 'APPROVED' || (decided !== 'REJECTED' && isOffered(sighting, findings)),
    isRejected: decided === 'REJECTED',
    change: {
      name,
      renamedFrom: approved.definition === null ? (renamedFrom?.name ?? null) : null,
      approvedHash: approved.hash,
      approvedDefinition: before,
      changes,
      findings,
    },
  };
}

function isOffered({ trust, isFirstSight }: Sighting, findings: readonly Finding[]): boolean {
  switch (trust) {
    case 'auto':
      return isFirstSight || !findings.some(isAlarming);
    case 'pinned':
      return isFirstSight;
    case 'review':
    case 'locked':
      return false;
    default:
      return trust satisfies never;
  }
}
