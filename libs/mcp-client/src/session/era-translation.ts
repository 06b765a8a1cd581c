import type { JsonObject, RawJsonObject } from '@app/platform';
import type { RequestOptions } from '../upstream.js';
import { ConnectionLost } from '../upstream.errors.js';
import type { Call } from './calls/pending-calls.js';

type Dispatch = (
  method: string,
  params: JsonObject | undefined,
  options: RequestOptions,
) => Promise<RawJsonObject>;

/** Translates and repeats calls that a server refused because it now has the other protocol era. */
export class EraTranslation {
  /** Calls that were translated; a server that changes its era again is not followed. */
  private readonly translated = new WeakSet<RequestOptions>();

  constructor(private readonly dispatch: Dispatch) {}

  repeat({ options, settle, endsAt }: Call, method: string, params: JsonObject | undefined): void {
    if (this.translated.has(options)) {
      settle.reject(
        new ConnectionLost('the server changes its protocol era again and again', 'no'),
      );
      return;
    }
    const leftMs = Math.max(1, endsAt - performance.now());
    const left = { ...options, timeoutMs: Math.min(options.timeoutMs, leftMs), maxTotalMs: leftMs };
    this.translated.add(left);
    // The stateless era has no ping; its probe is the translation of one.
    const own = method === 'server/discover' ? 'ping' : method;
    this.dispatch(own, params, left).then(settle.resolve, settle.reject);
  }
}
