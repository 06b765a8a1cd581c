import { type ViewLevel, viewLevels } from '@app/access';

export const grantLevels = viewLevels;
/** `read` lists, `call_read_only` offers and calls only tools that are annotated read-only, `call` calls all. */
export type GrantLevel = ViewLevel;

export const subjectKinds = ['token', 'user', 'group', 'client', 'anyone'] as const;
export type SubjectKind = (typeof subjectKinds)[number];
export const MAX_GRANTS = 5_000;

/** Who may use which view, and how far. */
export interface Grant {
  readonly id: string;
  readonly subjectKind: SubjectKind;
  /** The name of a token, the `sub`, a group or the client id of a JWT; empty for anyone. */
  readonly subject: string;
  /** Of a user, group or client. Null is any: of a token, of anyone, and of grants from before issuers were kept. */
  readonly issuer: string | null;
  readonly viewId: string;
  readonly level: GrantLevel;
  readonly expiresAt: Date | null;
  readonly callsPerMinute: number | null;
  readonly createdBy: string;
  readonly createdAt: Date;
}

/** As in `Principal.subjects`. */
export function subjectKey({
  subjectKind,
  subject,
}: Pick<Grant, 'subjectKind' | 'subject'>): string {
  return subjectKind === 'anyone' ? ANYONE : `${subjectKind}:${subject}`;
}

export const ANYONE = 'anyone';

/** Whether the first reaches as far as the second. */
export function reaches(level: GrantLevel, other: GrantLevel): boolean {
  return grantLevels.indexOf(level) >= grantLevels.indexOf(other);
}
