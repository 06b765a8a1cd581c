import { UpstreamRpcError } from '@app/mcp-protocol';
import { AppError, type ErrorKind, type JsonObject, type Span } from '@app/platform';

const TRACE_ID_META_KEY = 'switchboard/trace_id';

/**
 * Converts a failed call to a tool result that the model can act on. An invalid request and an error of the server
 * itself remain protocol errors. Its trace, which is always recorded, is named where clients see it and models do not.
 */
export function toolFailure(error: unknown, span?: Span): JsonObject {
  if (!(error instanceof AppError) || error instanceof UpstreamRpcError) throw error;
  const hint = hintAfter(error);
  if (hint === undefined) throw error;
  return {
    content: [{ type: 'text', text: `${error.message}. ${hint}` }],
    isError: true,
    ...(span && { _meta: { [TRACE_ID_META_KEY]: span.trace.id } }),
  };
}

/** States the outcome of the call before anything invites the model to repeat it (contract R46). */
function hintAfter({ kind, code, context }: AppError): string | undefined {
  if (context?.['outcome'] === 'unknown') {
    return 'The tool may have been executed, and a repeated call may execute it twice: check before you call it again.';
  }
  if (context?.['outcome'] === 'not executed') {
    return `The tool was not executed. ${hintFor(kind) ?? ''}`.trimEnd();
  }
  if (code === 'DATABASE_UNAVAILABLE') return 'Try again in a moment.';
  if (code === 'SERVER_CONNECTION_FAILED') return hintFor('unavailable');
  return hintFor(kind);
}

function hintFor(kind: ErrorKind): string | undefined {
  switch (kind) {
    case 'unavailable':
      return 'The tools of this server cannot be used at the moment; try again later or use another tool.';
    case 'overloaded':
    case 'rate-limited':
      return 'Try again in a moment.';
    case 'timeout':
      return 'The server takes too long at the moment; try again later or use another tool.';
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
