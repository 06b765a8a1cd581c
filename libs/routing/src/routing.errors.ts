import type { CatalogueServer, CatalogueTool } from '@app/catalogue';
import {
  type ConnectionLost,
  type Executed,
  type RequestTimedOut,
  UpstreamProtocolError,
} from '@app/mcp-client';
import { AppError, type JsonObject } from '@app/platform';

export class ToolAmbiguous extends AppError {
  constructor(name: string, candidates: readonly CatalogueTool[]) {
    super(
      `Several tools are named ${name.slice(0, 100)}: say which by server_id or by one of the names in context.candidates`,
      {
        kind: 'bad-request',
        code: 'TOOL_AMBIGUOUS',
        context: {
          candidates: candidates.map((tool) => ({
            name: tool.name,
            server_id: tool.serverId,
            server_name: tool.serverName,
          })),
        },
      },
    );
  }
}

/** What happened to a call that got no answer, in the same words on every entry (contract R46). */
export function outcomeOf(tool: CatalogueTool | undefined, executed: Executed): JsonObject {
  const outcome = executed === 'no' ? 'not executed' : 'unknown';
  return tool ? { tool: tool.name, outcome } : { outcome };
}

/** The session was lost during the call, and the call must not be repeated or the repetition failed. */
export class CallInterrupted extends AppError {
  constructor(tool: CatalogueTool, { id, name, status }: CatalogueServer, cause: ConnectionLost) {
    super(`Server unavailable: ${name}`, {
      kind: 'unavailable',
      code: 'SERVER_UNAVAILABLE',
      server: { id, name, status },
      context: outcomeOf(tool, cause.executed),
      cause,
    });
  }
}

export class CallTimedOut extends AppError {
  constructor(tool: CatalogueTool, { id, name, status }: CatalogueServer, cause: RequestTimedOut) {
    super(cause.message, {
      kind: 'timeout',
      code: 'EXECUTION_TIMEOUT',
      server: { id, name, status },
      context: outcomeOf(tool, cause.executed),
      cause,
    });
  }
}

/**
 * The server refused the credentials of the service, or wants the consent of a person, while it was called: like a
 * session that cannot be opened (contract R48).
 */
export class CallRefused extends AppError {
  constructor({ id, name, status }: CatalogueServer, cause: AppError, tool?: CatalogueTool) {
    super(`Server ${name} cannot be used: ${cause.message}`, {
      kind: 'unavailable',
      code: 'SERVER_UNAVAILABLE',
      server: { id, name, status },
      context: outcomeOf(tool, 'no'),
      cause,
    });
  }
}

/** A fault of this service while it routed a call; the cause is logged. */
export class RoutingFailed extends AppError {
  constructor(cause: unknown) {
    super(
      'The call could not be routed, because of a fault inside this service; its log has the reason under this request id',
      { kind: 'internal', code: 'ROUTING_FAILED', cause },
    );
  }
}

/** The server sent an invalid message; the error names the server and the problem. */
export class ServerMisbehaved extends AppError {
  constructor({ id, name, status }: CatalogueServer, cause: UpstreamProtocolError) {
    super(`Server ${name} does not keep to the protocol: ${cause.what}`, {
      kind: 'upstream',
      code: 'EXECUTION_FAILED',
      server: { id, name, status },
      cause,
    });
  }
}

/** Wraps errors that do not say which server they are about; others are returned unchanged. */
export function naming(server: CatalogueServer, error: unknown, tool?: CatalogueTool): unknown {
  if (error instanceof UpstreamProtocolError) return new ServerMisbehaved(server, error);
  const isRefused = error instanceof AppError && error.code === 'SERVER_CONNECTION_FAILED';
  return isRefused ? new CallRefused(server, error, tool) : error;
}

export class ServerOverloaded extends AppError {
  constructor({ id, name, status }: CatalogueServer) {
    super(`Server overloaded: ${name} has as many calls running and waiting as it is allowed`, {
      kind: 'overloaded',
      code: 'OVERLOADED',
      server: { id, name, status },
      retryAfterSeconds: 1,
    });
  }
}

/** Own tools are called on the endpoint that lists them; there is no server to route them to. */
export class OwnTool extends AppError {
  constructor(name: string) {
    super(
      `${name} is a tool of the aggregator itself: call it on an MCP endpoint, or over REST by its own route (POST /api/v1/aggregator/query)`,
      { kind: 'bad-request', code: 'TOOL_NOT_ROUTED' },
    );
  }
}
