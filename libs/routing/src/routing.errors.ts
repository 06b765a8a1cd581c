import type { CatalogueServer, CatalogueTool } from '@app/discovery';
import type { ConnectionLost } from '@app/mcp';
import { AppError } from '@app/platform';

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

/** The session was lost in the middle of a call, and the call must not be repeated, or was in vain. */
export class CallInterrupted extends AppError {
  constructor(tool: CatalogueTool, { id, name, status }: CatalogueServer, cause: ConnectionLost) {
    super(`Server unavailable: ${name}`, {
      kind: 'unavailable',
      code: 'SERVER_UNAVAILABLE',
      server: { id, name, status },
      context: {
        tool: tool.name,
        outcome: cause.executed === 'no' ? 'not executed' : 'unknown',
      },
      cause,
    });
  }
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

/** The aggregator's own tools are answered where they are listed, and have no server to be routed to. */
export class OwnTool extends AppError {
  constructor(name: string) {
    super(
      `${name} is a tool of the aggregator itself: call it on an MCP endpoint, or over REST by its own route (POST /api/v1/aggregator/query)`,
      { kind: 'bad-request', code: 'TOOL_NOT_ROUTED' },
    );
  }
}

export class ToolNotFound extends AppError {
  constructor(name: string) {
    super(`Tool not found: ${name.slice(0, 100)}`, { kind: 'not-found', code: 'TOOL_NOT_FOUND' });
  }
}
