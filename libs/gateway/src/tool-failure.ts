import { UpstreamRpcError } from '@app/mcp';
import { AppError, type ErrorKind, type JsonObject } from '@app/platform';

/**
 * A call that failed on the way is a result that the model reads and can act on; what is wrong with the
 * request itself stays a protocol error, and so does the server's own.
 */
export function toolFailure(error: unknown): JsonObject {
  if (!(error instanceof AppError) || error instanceof UpstreamRpcError) throw error;
  const hint = hintFor(error.kind);
  if (hint === undefined) throw error;
  return { content: [{ type: 'text', text: `${error.message}. ${hint}` }], isError: true };
}

function hintFor(kind: ErrorKind): string | undefined {
  switch (kind) {
    case 'unavailable':
      return 'The tools of this server cannot be used at the moment; try again later or use another tool.';
    case 'overloaded':
    case 'rate-limited':
      return 'Try again in a moment.';
    case 'timeout':
      return 'The tool may have done its work all the same; check before you call it again.';
    case 'upstream':
      return 'The server does not work as it should; use another tool if there is one.';
    case 'bad-request':
    case 'invalid':
    case 'unauthorized':
    case 'forbidden':
    case 'not-found':
    case 'conflict':
    case 'too-large':
    case 'internal':
      return undefined;
    default:
      return kind satisfies never;
  }
}
