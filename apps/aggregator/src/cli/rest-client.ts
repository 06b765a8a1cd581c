import {
  connect,
  type StreamEventsData,
  type StreamEventsResponse,
  type Switchboard,
} from '@app/api-client';
import type { Service } from './locate-service.js';
import { anotherProgram, refusalOf, streamRefused, unreachable } from './refusal.js';

/** Maximum page size of the service. */
const PAGE = 500;

/** Result of a method of the API client; `response` is undefined when there was none. */
interface Exchange<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly response: Response | undefined;
}

/** `Last-Event-ID` of a stream of events. */
export interface StreamPosition {
  id: string | undefined;
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

  /** The body of an answer that is no JSON, as it arrives. */
  async bytes(
    operation: (api: Switchboard) => Promise<Exchange<unknown>>,
  ): Promise<ReadableStream<Uint8Array>> {
    const { url } = this.service;
    const { data, error, response } = await operation(this.api);
    if (!response) throw unreachable(url, error);
    if (error !== undefined) throw refusalOf(url, response.status, error);
    if (!(data instanceof ReadableStream)) throw anotherProgram(url);
    return data;
  }

  /**
   * What happens, from now on or after the position, until the service ends the stream. The position is kept up to date;
   * it is there as soon as the stream has begun.
   */
  async *events(
    query: NonNullable<StreamEventsData['query']>,
    position: StreamPosition,
  ): AsyncGenerator<StreamEventsResponse> {
    let failure: unknown;
    const { stream } = await this.api.streamEvents({
      query,
      ...(position.id !== undefined && { headers: { 'Last-Event-ID': position.id } }),
      sseMaxRetryAttempts: 1,
      onSseEvent: ({ id }) => (position.id = id ?? position.id),
      onSseError: (error) => (failure = error),
    });
    yield* stream;
    if (failure === undefined) return;
    const status = /^SSE failed: (\d{3})/.exec(
      failure instanceof Error ? failure.message : '',
    )?.[1];
    throw status === undefined
      ? unreachable(this.service.url, failure)
      : streamRefused(this.service.url, Number(status));
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
