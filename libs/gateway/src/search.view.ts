import { Injectable } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { QueryTool } from '@app/aggregation';
import { Catalogue } from '@app/discovery';
import {
  type ClientCall,
  type McpView,
  type RootsClient,
  type RootsOffer,
  rpcCode,
  RpcError,
  type RpcResult,
  type ServerChange,
  type ServerDescription,
} from '@app/mcp';
import { AppError, isJsonObject, type JsonObject, product } from '@app/platform';
import { resolveRoute } from '@app/routing';
import { SearchTools } from '@app/search';
import { z } from 'zod';
import { ClientRoots } from './client-roots.js';
import { listingOf } from './listed-tools.js';
import { foundToolView, searchInstructions, searchTools } from './search-surface.js';
import { callQueryTool } from './query-tool-call.js';
import { Upstreams } from './upstreams.js';

const searchArguments = z.object({
  query: z.string().trim().min(1).max(2_000),
  limit: z.int().min(1).max(50).default(10),
  servers: z.array(z.string()).min(1).optional(),
});
const describeArguments = z.object({ name: z.string() });
const callArguments = z.object({
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()).default({}),
});

/** `/mcp/search`: tools that find, describe, call and ask all the others, for models that shall not read every list. */
@Injectable()
export class SearchView implements McpView {
  readonly key = 'search';
  readonly serverInfo = { ...product };

  constructor(
    private readonly catalogue: Catalogue,
    private readonly queries: QueryBus,
    private readonly upstreams: Upstreams,
    private readonly queryTool: QueryTool,
    private readonly roots: ClientRoots,
  ) {}

  async ready(): Promise<void> {
    // What it says of itself does not depend on any server.
  }

  describe(): ServerDescription {
    return {
      capabilities: { tools: { listChanged: true } },
      instructions: searchInstructions(this.catalogue.current),
    };
  }

  async request(method: string, params: JsonObject, call: ClientCall): Promise<RpcResult> {
    switch (method) {
      case 'tools/list':
        return { tools: [...searchTools(this.catalogue.current), this.queryTool.listing] };
      case 'tools/call':
        return this.queryTool.answersTo(params['name'])
          ? callQueryTool(this.queryTool, params, call)
          : this.callTool(params, call);
      default:
        throw new RpcError(rpcCode.methodNotFound, 'Method not found');
    }
  }

  inputSchemaOf(): undefined {
    return undefined;
  }

  async subscribe(uri: string): Promise<() => void> {
    throw new RpcError(rpcCode.resourceNotFound, `Resource not found: ${uri}`);
  }

  offerRoots(client: RootsClient): RootsOffer {
    return this.roots.offer(client);
  }

  /** The descriptions of the three name the servers, so they change with them. */
  watch(listener: (change: ServerChange) => void): () => void {
    return this.catalogue.subscribe((next, previous) => {
      if (JSON.stringify(searchTools(next)) !== JSON.stringify(searchTools(previous))) {
        listener({ kind: 'tools' });
      }
    });
  }

  private async callTool(params: JsonObject, call: ClientCall): Promise<RpcResult> {
    const args = params['arguments'] ?? {};
    try {
      switch (params['name']) {
        case 'search_tools':
          return await this.search(searchArguments.parse(args));
        case 'describe_tool':
          return this.describeTool(describeArguments.parse(args).name);
        case 'call_tool': {
          const { name } = callArguments.parse(args);
          const inner =
            isJsonObject(args) && isJsonObject(args['arguments']) ? args['arguments'] : {};
          const asked = { ...params, name, arguments: inner };
          return this.queryTool.answersTo(name)
            ? await callQueryTool(this.queryTool, asked, call)
            : await this.upstreams.callTool(asked, call);
        }
        default:
          throw new RpcError(
            rpcCode.invalidParams,
            `Tool not found: ${JSON.stringify(params['name'])}`,
          );
      }
    } catch (error) {
      return modelsMistake(error);
    }
  }

  private async search(request: z.infer<typeof searchArguments>): Promise<JsonObject> {
    const found = await this.queries.execute(new SearchTools(request));
    const structured = {
      tools: found.tools.map(foundToolView),
      ...(found.excludedServers.length > 0 && {
        unavailable_servers: found.excludedServers.map(({ name, reason }) => `${name}: ${reason}`),
      }),
    };
    return answer(structured);
  }

  private describeTool(name: string): JsonObject {
    if (this.queryTool.answersTo(name))
      return answer({ server: null, tool: this.queryTool.listing });
    const { tool, server } = resolveRoute(this.catalogue.current, name);
    return answer({ server: server.name, tool: listingOf(tool) });
  }
}

function answer(structured: JsonObject): JsonObject {
  return {
    content: [{ type: 'text', text: JSON.stringify(structured) }],
    structuredContent: structured,
  };
}

/** A wrong name or argument of the inner call is for the model to mend, so it has to see it. */
function modelsMistake(error: unknown): JsonObject {
  const text =
    error instanceof z.ZodError
      ? error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ')
      : error instanceof AppError && (error.kind === 'not-found' || error.kind === 'bad-request')
        ? `${error.message}. Names of tools are found with search_tools.`
        : undefined;
  if (text === undefined) throw error;
  return { content: [{ type: 'text', text }], isError: true };
}
