/** Exit codes of `switchboard`, which scripts rely on. */
export const exitCodes = {
  ok: 0,
  /** The service, a server or a tool reported an error. */
  failed: 1,
  usage: 2,
  unreachable: 3,
  unauthorized: 4,
  notFound: 5,
} as const;

export const EXIT_CODES_HELP = `
Exit codes: 0 done, 1 the service, a server or a tool reported an error, 2 wrong usage,
3 no service answers, 4 the token is missing or lacks the scope, 5 no such server, tool or entry.`;

/** A failure that the user can fix; printed without a stack. */
export class CliError extends Error {
  constructor(
    message: string,
    readonly exitCode: number,
    /** The `error_code` of the service, if the service refused. */
    readonly code?: string,
  ) {
    super(message);
  }
}

export function usageError(message: string): CliError {
  return new CliError(message, exitCodes.usage);
}
