import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Catalogue } from '@app/catalogue';
import type { JsonObject, JsonValue } from '@app/platform';
import { readQuery } from './aggregated-query.js';
import { QUERY_TOOL, QUERY_TOOL_ALIAS, queryToolListing } from './query-contract.js';
import { type QueryCaller, QueryServers } from './query-servers.command.js';

/** The aggregated query as a tool that MCP endpoints list among their own. */
@Injectable()
export class QueryTool {
  readonly listing: JsonObject = queryToolListing;

  constructor(
    private readonly commands: CommandBus,
    private readonly catalogue: Catalogue,
  ) {}

  answersTo(name: JsonValue | undefined): boolean {
    if (name !== QUERY_TOOL_ALIAS) return name === QUERY_TOOL;
    // A server named `aggregator` may have a tool with this wire name; it takes precedence.
    return !this.catalogue.current.serversByName.has('aggregator');
  }

  /** The result of `tools/call`. Throws InvalidQuery and AllServersFailed. */
  async call(args: JsonValue | undefined, caller: QueryCaller): Promise<JsonObject> {
    const question = readQuery(args ?? {}, { refuseUnknown: false });
    const answer = await this.commands.execute(new QueryServers(question, caller));
    return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: answer };
  }
}
