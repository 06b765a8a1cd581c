import { Switchboard } from './generated/sdk.gen.js';
import { createClient } from './generated/client/index.js';

// Everything in them is the API; a list of names here would only repeat what `npm run api-client` writes.
export { type Options, Switchboard } from './generated/sdk.gen.js';
export type * from './generated/types.gen.js';

export interface Service {
  /** Where it listens, without a path: `http://127.0.0.1:8081`. */
  readonly url: string;
  /** Undefined for what answers without one, such as `getHealth`. */
  readonly token?: string | undefined;
  /** Another `fetch`, to set a proxy or a deadline for every request. */
  readonly fetch?: typeof globalThis.fetch;
}

/**
 * The API of one service, a method for each operation. A method resolves to `{ data, error, response }`, where
 * `error` is the answer of the service if it is none of success; with `throwOnError: true` it rejects instead.
 * Without an answer `response` is undefined, and `error` is what `fetch` threw.
 */
export function connect({ url, token, fetch }: Service): Switchboard {
  return new Switchboard({
    client: createClient({
      baseUrl: url.replace(/\/+$/, ''),
      ...(token && { auth: token }),
      ...(fetch && { fetch }),
    }),
  });
}
