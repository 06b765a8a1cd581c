import { z } from 'zod';
import { hasMoreChars } from './text/text.js';

/** The same limit for REST, MCP and the command line. */
export const MAX_NAMED_SERVERS = 1_000;
export const MAX_SERVER_NAME_CHARS = 255;

const isList = 'Must be a list of server names';

/**
 * Validates server names sent by a caller. The length of the list is checked before its items: a zod array with a
 * maximum validates every item first, and reports each invalid one.
 */
export const serverNames = z.pipe(
  z
    .custom<unknown[]>((value) => Array.isArray(value), isList)
    .refine(({ length }) => length <= MAX_NAMED_SERVERS, {
      error: `Must name at most ${MAX_NAMED_SERVERS} servers`,
    }),
  z.array(
    z
      .string(isList)
      .refine(
        (name) => !hasMoreChars(name, MAX_SERVER_NAME_CHARS),
        `A server name has at most ${MAX_SERVER_NAME_CHARS} characters`,
      ),
  ),
);
