import { type FieldIssue, Refused } from '../../api/refused.js';

/** What the service refused, by field. */
export interface FieldErrors {
  at: (...paths: readonly string[]) => string | undefined;
  /** Sentences about what no field shows. */
  readonly others: readonly string[];
  readonly count: number;
}

const CONFIG = 'connection_config';

/** Fields that the form shows an error at; `args` and `oauth` are for their members too. */
const shown = [
  ...['name', 'description', 'health_check_url', 'trust', 'credentials'],
  ...['command', 'args', 'cwd', 'url', 'base_url', 'env', 'headers', 'oauth'].map(
    (field) => `${CONFIG}.${field}`,
  ),
];

function isAt({ path }: FieldIssue, wanted: string): boolean {
  return path === wanted || path.startsWith(`${wanted}.`);
}

export function fieldErrors(error: unknown): FieldErrors {
  const issues = error instanceof Refused ? error.issues : [];
  const others = issues.filter((issue) => !shown.some((path) => isAt(issue, path)));
  return {
    at: (...paths) => issues.find((issue) => paths.some((path) => isAt(issue, path)))?.message,
    others: others.map(({ path, message }) => `${path}: ${message}`),
    count: issues.length,
  };
}

export function configPath(...parts: readonly string[]): string {
  return [CONFIG, ...parts].join('.');
}
