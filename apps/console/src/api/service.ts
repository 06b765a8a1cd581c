import { connect, type Switchboard } from '@app/api-client';
import { Refused } from './refused.js';

/** Marks requests of this page: without it the service ignores the cookie of a request that changes something. */
export const OWN_REQUEST = { 'X-Requested-With': 'switchboard-console' };

const client: Switchboard = connect({
  url: window.location.origin,
  fetch: (input, init) => {
    const request = new Request(input, init);
    for (const [name, value] of Object.entries(OWN_REQUEST)) request.headers.set(name, value);
    return fetch(request);
  },
});

/** Result of a method of the API client; `response` is undefined when there was none. */
interface Exchange<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly response: Response | undefined;
}

/** Calls one operation of the REST API; rejects with `Refused`, whose message says what to do next. */
export async function ask<T>(operation: (api: Switchboard) => Promise<Exchange<T>>): Promise<T> {
  const { data, error, response } = await operation(client);
  if (!response) throw new Refused(0, undefined);
  if (!response.ok) throw new Refused(response.status, error);
  // Answers without a body (204) have no data.
  return data as T;
}
