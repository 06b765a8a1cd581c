import type {
  ClientCall,
  McpSurface,
  RootsClient,
  RootsOffer,
  ServerChange,
  ServerDescription,
} from '@app/mcp-server';
import { rpcCode, RpcError, type RpcResult } from '@app/mcp-protocol';
import {
  AppError,
  changed,
  isCleanText,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  keepTextOfMembers,
  product,
  serverNames,
  hasMoreChars,
} from '@app/platform';
import type { Offer } from '@app/policy';
import { MAX_QUERY_LENGTH, SearchTools } from '@app/search';
import { z } from 'zod';
import { ListChangeNotices } from '../notify/list-change-notices.js';
import { isSameList, listedTools, listingOf } from '../lists/listed-tools.js';
import {
  foundToolView,
  noGoodMatchView,
  searchInstructions,
  searchTools,
  whatIsThere,
} from './search-tools.js';
import { callQueryTool } from '../forward/query-tool-call.js';
import type { ShownOffer } from './shown-offer.js';
import type { SurfaceDependencies } from './surface-dependencies.js';

/** Longer than any tool name, including the server prefix. */
const MAX_NAME_CHARS = 1_000;
const MAX_SEARCH_ID_CHARS = 100;
/** Limit on validation issues reported to the model. */
const MAX_ISSUES = 10;

const searchArguments = z.object({
  query: z
    .string()
    .refine((query) => !hasMoreChars(query, MAX_QUERY_LENGTH), {
      error: `Must have at most ${MAX_QUERY_LENGTH} characters`,
      abort: true,
    })
    .refine(isCleanText, 'Must not contain NUL or unpaired surrogate characters')
    .trim()
    .min(1),
  limit: z.int().min(1).max(50).default(10),
  min_fit: z.number().min(0).max(1).default(0),
  servers: serverNames
    .refine(({ length }) => length > 0, 'Must name at least one server')
    .optional(),
});
const describeArguments = z.object({ name: z.string().max(MAX_NAME_CHARS) });
const callArguments = z.object({
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()).default({}),
  search_id: z.string().max(MAX_SEARCH_ID_CHARS).optional(),
});

/**
 * `/mcp/search` and `/mcp/views/{slug}/search`: own tools that search, describe, call and query the tools of a view,
 * for models that should not read every list.
 */
export class SearchSurface implements McpSurface {
  readonly key: string;
  readonly serverInfo = { ...product };
  private readonly changes: ListChangeNotices;
  /** The descriptions as of the last change notification. */
  private described = '';

  constructor(
    private readonly shown: ShownOffer,
    private readonly deps: SurfaceDependencies,
  ) {
    this.key = `search${shown.key}`;
    this.changes = new ListChangeNotices(deps.clock);
  }

  /** Notifies clients when the tool descriptions change, because they name the servers. */
  followCatalogue(): void {
    if (this.changes.isUnheard) return;
    const described = whatIsThere(this.shown.catalogue);
    if (described !== this.described) this.changes.tell('tools');
    this.described = described;
  }

  /** Notifies clients when a change of the policy leads search and calls to other tools than `before`. */
  followOffer(before: Offer): void {
    if (this.changes.isUnheard) return;
    const [was, is] = [this.shown.catalogueOf(before), this.shown.catalogue].map(listedTools);
    if (was && is && !isSameList(was, is)) this.changes.tell('tools');
  }

  async ready(): Promise<void> {
    // The description does not depend on any server.
  }

  describe(): ServerDescription {
    return {
      // Only the whole results of shortened answers.
      capabilities: { tools: { listChanged: true }, resources: {} },
      instructions: searchInstructions(this.shown.catalogue),
      meta: this.deps.loops.introduction(),
    };
  }

  async handle(method: string, params: JsonObject, call: ClientCall): Promise<RpcResult> {
    const loop = this.deps.loops.refusalOf(params);
    if (loop) throw loop;
    switch (method) {
      case 'tools/list':
        return { tools: [...searchTools(this.shown.catalogue), this.deps.queryTool.listing] };
      case 'tools/call':
        return this.deps.queryTool.answersTo(params['name'])
          ? callQueryTool(this.deps.queryTool, params, call, this.shown.offer)
          : this.call(params, call);
      case 'resources/list':
        return { resources: [] };
      case 'resources/templates/list':
        return { resourceTemplates: [] };
      case 'resources/read':
        return this.readResource(params['uri'], call);
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
    const { offer, catalogue } = this.shown;
    return this.deps.roots.offer(
      client,
      offer.isEverything ? undefined : [...catalogue.servers.keys()],
    );
  }

  watch(listener: (change: ServerChange) => void): () => void {
    if (this.changes.isUnheard) this.described = whatIsThere(this.shown.catalogue);
    return this.changes.watch(listener);
  }

  private readResource(uri: JsonValue | undefined, call: ClientCall): Promise<JsonObject> {
    if (typeof uri !== 'string') throw new RpcError(rpcCode.invalidParams, 'uri must be a string');
    return this.deps.keptResults.read(uri, call.client.caller.subject);
  }

  private async call(params: JsonObject, call: ClientCall): Promise<RpcResult> {
    const args = params['arguments'] ?? {};
    try {
      switch (params['name']) {
        case 'search_tools':
          return await this.search(searchArguments.parse(args), call);
        case 'describe_tool':
          return this.describeTool(describeArguments.parse(args).name, call);
        case 'call_tool': {
          const { name, search_id: searchId } = callArguments.parse(args);
          if (isJsonObject(args)) keepTextOfMembers(args);
          const inner =
            isJsonObject(args) && isJsonObject(args['arguments']) ? args['arguments'] : {};
          const asked = changed(params, { name, arguments: inner });
          return this.deps.queryTool.answersTo(name)
            ? await callQueryTool(this.deps.queryTool, asked, call, this.shown.offer)
            : await this.deps.forwarder.call(this.shown.catalogue, asked, call, {
                budgetTokens: this.shown.budgetTokens,
                searchId,
              });
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

  private async search(
    { min_fit: fitThreshold, ...request }: z.infer<typeof searchArguments>,
    { client, span }: ClientCall,
  ): Promise<JsonObject> {
    const { name, subject, mayOnlyRead } = client.caller;
    const asker = {
      name,
      subject,
      viewId: this.shown.viewId,
      mayOnlyRead: mayOnlyRead?.() ?? false,
      session: client,
    };
    const found = await this.deps.queries.execute(
      new SearchTools({ ...request, fitThreshold }, this.shown.offer, asker, span),
    );
    const structured = {
      ...(found.searchId !== undefined && { search_id: found.searchId }),
      tools: found.tools.map(foundToolView),
      ...(found.noGoodMatch && { no_good_match: noGoodMatchView(found.noGoodMatch) }),
      ...(found.excludedServers.length > 0 && {
        unavailable_servers: found.excludedServers.map(({ name, reason }) => `${name}: ${reason}`),
      }),
    };
    return answer(structured);
  }

  private describeTool(name: string, call: ClientCall): JsonObject {
    if (this.deps.queryTool.answersTo(name))
      return answer({ server: null, tool: this.deps.queryTool.listing });
    const { tool, server } = this.deps.forwarder.routeTo(this.shown.catalogue, name, call);
    return answer({ server: server.name, tool: listingOf(tool) });
  }
}

function answer(structured: JsonObject): JsonObject {
  return {
    content: [{ type: 'text', text: JSON.stringify(structured) }],
    structuredContent: structured,
  };
}

/** Returned as a tool result: the model can correct a wrong name or argument only if it sees the error. */
function modelsMistake(error: unknown): JsonObject {
  const text =
    error instanceof z.ZodError
      ? error.issues
          .slice(0, MAX_ISSUES)
          .map((issue) => `${issue.path.join('.')}: ${issue.message}`)
          .join('; ')
      : error instanceof AppError && (error.kind === 'not-found' || error.kind === 'bad-request')
        ? `${error.message}. Names of tools are found with search_tools.`
        : undefined;
  if (text === undefined) throw error;
  return { content: [{ type: 'text', text }], isError: true };
}
