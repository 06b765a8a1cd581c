import { Injectable } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { rpcCode, RpcError } from '@app/mcp-protocol';
import type { JsonObject, JsonValue } from '@app/platform';
import type { Offer } from '@app/policy';
import {
  isResultUri,
  mimeTypeOf,
  ReadKeptResult,
  readResultUri,
  ResultBudget,
  resultUri,
} from '@app/results';

/** `_meta` keys of a page of a kept result. */
const PAGE = 'switchboard/page';
const PAGES = 'switchboard/pages';
const NEXT = 'switchboard/next';
const EXPIRES = 'switchboard/expires';

/** The whole results of shortened answers as resources of this service. */
@Injectable()
export class KeptResultResources {
  constructor(
    private readonly queries: QueryBus,
    private readonly budget: ResultBudget,
  ) {}

  /** With these a client is told that it may read resources, also where a server has none. */
  capabilities(ofServer: JsonObject, offer: Offer): JsonObject {
    return this.isAdded(ofServer, offer) ? { ...ofServer, resources: {} } : ofServer;
  }

  /** Whether the server has no resources, so that only kept results are read. */
  isAdded(ofServer: JsonObject, { hasBudget }: Offer): boolean {
    return (this.budget.isOn || hasBudget) && ofServer['resources'] === undefined;
  }

  isOne(uri: JsonValue | undefined): uri is string {
    return typeof uri === 'string' && isResultUri(uri);
  }

  async read(uri: string, subject: string): Promise<JsonObject> {
    const result = await this.find(uri, subject);
    if (!result) throw this.notFound(uri);
    return result;
  }

  notFound(uri: string): RpcError {
    const message = `Resource not found: ${uri}. Kept results belong to the principal that called the tool, and expire; call the tool again`;
    return new RpcError(rpcCode.resourceNotFound, message, { uri });
  }

  /** Undefined for another principal too. */
  async find(uri: string, subject: string): Promise<JsonObject | undefined> {
    const named = readResultUri(uri);
    if (!named) return undefined;
    const { id, page } = named;
    const found = await this.queries.execute(new ReadKeptResult(id, page, subject));
    if (!found) return undefined;
    const { text, pages, expiresAt } = found;
    const meta = {
      [PAGE]: page,
      [PAGES]: pages,
      ...(page < pages && { [NEXT]: resultUri(id, page + 1) }),
      [EXPIRES]: expiresAt.toISOString(),
    };
    return { contents: [{ uri, mimeType: mimeTypeOf(pages), text, _meta: meta }] };
  }
}
