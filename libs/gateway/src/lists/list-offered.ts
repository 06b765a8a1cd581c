import { rpcCode, UpstreamRpcError } from '@app/mcp-protocol';
import type { UpstreamSession } from '@app/mcp-client';
import { AppError, type JsonObject } from '@app/platform';
import { type OfferedKind, OfferedList } from './offered-list.js';
import { MAX_ITEMS, readOffered } from './read-offered.js';

/** This many items over a limit are still read, so that a warning can name them. */
const NAMED_OVER_LIMIT = 1_000;
const MAX_PAGES = 1_000;
const LIST_WITHIN_MS = 30_000;

export type Listed =
  /** `list` is undefined when the server does not declare the capability. */
  | { readonly list: OfferedList | undefined; readonly remarks: readonly string[] }
  | { readonly error: unknown; readonly reason: string };

/** Reads one kind of list from a server; errors are returned, not thrown. */
export async function listOffered(
  session: UpstreamSession,
  kind: OfferedKind,
  maxBytes: number,
): Promise<Listed> {
  const capability = kind === 'prompts' ? 'prompts' : 'resources';
  if (session.capabilities[capability] === undefined) return { list: undefined, remarks: [] };
  try {
    const withheld: string[] = [];
    const listed = await all(session, kind, (name, why) =>
      withheld.push(`not offered: ${name}: ${why}`),
    );
    const read = await readOffered(kind, listed, session.provenance, maxBytes);
    return { ...read, remarks: [...withheld, ...read.remarks] };
  } catch (error) {
    return { error, reason: error instanceof AppError ? error.message : 'they could not be read' };
  }
}

async function all(
  session: UpstreamSession,
  kind: OfferedKind,
  onWithheld: (name: string, why: string) => void,
): Promise<readonly JsonObject[]> {
  try {
    return await session.listAll(kind, {
      maxItems: MAX_ITEMS[kind] + NAMED_OVER_LIMIT,
      maxPages: MAX_PAGES,
      timeoutMs: LIST_WITHIN_MS,
      onWithheld,
    });
  } catch (error) {
    // Many servers with resources do not implement resource templates and answer "method not found".
    if (error instanceof UpstreamRpcError && error.rpc.code === rpcCode.methodNotFound) return [];
    throw error;
  }
}
