import { connect, type Switchboard } from '@app/api-client';
import type { Service } from './locate-service.js';
import { anotherProgram, refusalOf, unreachable } from './refusal.js';

/** Maximum page size of the service. */
const PAGE = 500;

/** Result of a method of the API client; `response` is undefined when there was none. */
interface Exchange<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly response: Response | undefined;
}

export interface PageRange {
  readonly limit: number;
  readonly offset: number;
}

/** Calls the REST API; returns the response or throws the reason for the failure. */
export class RestClient {
  private readonly api: Switchboard;

  /** `fetch` may bound the time of every request. */
  constructor(
    private readonly service: Service,
    fetch?: typeof globalThis.fetch,
  ) {
    this.api = connect({ ...service, ...(fetch && { fetch }) });
  }

  async ask<T>(operation: (api: Switchboard) => Promise<Exchange<T>>): Promise<T> {
    const { url } = this.service;
    const { data, error, response } = await operation(this.api).catch((cause: unknown) => {
      throw cause instanceof SyntaxError ? anotherProgram(url) : cause;
    });
    if (!response) throw unreachable(url, error);
    if (data === undefined) throw refusalOf(url, response.status, error);
    const isJson = response.headers.get('content-type')?.includes('json');
    if (response.status !== 204 && !isJson) throw anotherProgram(url);
    return data;
  }

  /** Reads a list page by page, up to `most` items, and returns the first page with all of them. */
  async list<T extends { readonly total: number }, I>(
    operation: (api: Switchboard, page: PageRange) => Promise<Exchange<T>>,
    itemsOf: (page: T) => readonly I[],
    most = Number.POSITIVE_INFINITY,
  ): Promise<{ readonly first: T; readonly items: readonly I[] }> {
    const read = (offset: number): Promise<T> =>
      this.ask((api) => operation(api, { limit: Math.min(PAGE, most - offset), offset }));
    const first = await read(0);
    const items = [...itemsOf(first)];
    while (items.length < Math.min(first.total, most)) {
      const more = itemsOf(await read(items.length));
      if (more.length === 0) break;
      items.push(...more);
    }
    return { first, items };
  }
}
