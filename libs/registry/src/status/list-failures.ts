import { z } from 'zod';
import { isServing, type ServerStatus } from './server-status.js';

/** Why lists of a server could not be read, by kind; a kind that was read has no entry (contract R42). */
export const listFailuresSchema = z.object({
  tools: z.string().optional(),
  prompts: z.string().optional(),
  resources: z.string().optional(),
  resourceTemplates: z.string().optional(),
});
export type ListFailures = Readonly<z.infer<typeof listFailuresSchema>>;
export type ListedKind = keyof ListFailures;

const names = {
  tools: 'tools',
  prompts: 'prompts',
  resources: 'resources',
  resourceTemplates: 'resource templates',
} as const satisfies Record<ListedKind, string>;

/** The error of the row, or the lists that could not be read. */
export function errorShown(
  server: Readonly<{
    status: ServerStatus;
    errorMessage: string | null;
    listFailures: ListFailures;
  }>,
): string | null {
  const problems = listProblems(server.status, server.listFailures);
  return server.errorMessage ?? (problems.length > 0 ? problems.join('; ') : null);
}

/** One sentence per list that could not be read. Without a connection, the status explains why nothing is listed. */
export function listProblems(status: ServerStatus, failures: ListFailures): string[] {
  if (!isServing(status)) return [];
  return Object.entries(names).flatMap(([kind, name]) => {
    const reason = failures[kind as ListedKind];
    return reason === undefined ? [] : [`Its ${name} could not be listed: ${reason}`];
  });
}
