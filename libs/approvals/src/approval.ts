import type { JsonObject } from '@app/platform';
import type { FieldChange } from './decide/field-changes.js';
import type { Finding } from './findings/finding.js';

export const approvalKinds = ['tool', 'prompt', 'instructions'] as const;
export type ApprovalKind = (typeof approvalKinds)[number];

/**
 * PENDING: waits for a decision. REJECTED: withheld until the definition changes again. APPROVED: offered when the server
 * lists it again. GONE: no longer listed; what was approved is kept to compare with when it returns.
 */
export const approvalStates = ['PENDING', 'REJECTED', 'APPROVED', 'GONE'] as const;
export type ApprovalState = (typeof approvalStates)[number];

/** What is known of a definition that is not offered as the server lists it. */
export interface KnownDefinition {
  /** The name at the server. */
  readonly name: string;
  readonly state: ApprovalState;
  /** Null: none was approved yet. */
  readonly approvedHash: string | null;
  readonly approvedDefinition: JsonObject | null;
  /** Null when it is GONE. */
  readonly listedHash: string | null;
}

/** A definition that differs from what was approved. */
export interface DefinitionChange {
  readonly name: string;
  /** The former name, for a tool that was renamed. */
  readonly renamedFrom: string | null;
  readonly approvedHash: string | null;
  readonly approvedDefinition: JsonObject | null;
  readonly changes: readonly FieldChange[];
  readonly findings: readonly Finding[];
}

/** An approved definition that the server does not list any more. */
export interface GoneTool {
  readonly name: string;
  readonly approvedHash: string;
  readonly approvedDefinition: JsonObject;
}
