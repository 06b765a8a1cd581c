import type { ApprovalDetailView } from '@app/api-client';

/** A member of a definition: `description`, `inputSchema`, … */
export interface Member {
  readonly name: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly isChanged: boolean;
  /** Places inside it that differ. */
  readonly changes: number;
}

/** What matters most is read first. */
const ORDER = ['description', 'inputSchema', 'arguments', 'annotations', 'outputSchema', 'title'];

function rank(name: string): number {
  const at = ORDER.indexOf(name);
  return at < 0 ? ORDER.length : at;
}

export function membersOf(approval: ApprovalDetailView): Member[] {
  const before = approval.approved_definition ?? {};
  const after = approval.listed_definition;
  const names = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  return names
    .map((name) => ({
      name,
      before: before[name],
      after: after[name],
      isChanged: approval.is_new || approval.fields.includes(name),
      changes: approval.changes.filter(({ path }) => path.split('/')[0] === name).length,
    }))
    .toSorted((a, b) => rank(a.name) - rank(b.name));
}

/** Texts as they are, all else as JSON. */
export function shown(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value, undefined, 2);
}

/** What findings quote, so that it can be marked where it stands. */
export function quotedIn(approval: ApprovalDetailView): string[] {
  return approval.findings.flatMap(({ text }) =>
    [...text.matchAll(/“([^”]+)”/g)].map(([, quoted]) => quoted ?? ''),
  );
}
