import { LruMap, RateLimited } from '@app/access';

const MAX_A_MINUTE = 60;
const MINUTE_MS = 60_000;
const MAX_NETWORKS = 10_000;

interface Failures {
  readonly since: number;
  readonly count: number;
}

/** By network: each was a request to the identity provider in the name of this service. Times are monotonic. */
export class FailedLogins {
  private readonly failures = new LruMap<Failures>(MAX_NETWORKS);

  /** Throws RateLimited. */
  refuseMore(network: string, now: number): void {
    const { since, count } = this.of(network, now);
    if (count >= MAX_A_MINUTE) throw new RateLimited(Math.ceil((since + MINUTE_MS - now) / 1_000));
  }

  note(network: string, now: number): void {
    const { since, count } = this.of(network, now);
    this.failures.set(network, { since, count: count + 1 });
  }

  private of(network: string, now: number): Failures {
    const known = this.failures.get(network);
    return known && now - known.since < MINUTE_MS ? known : { since: now, count: 0 };
  }
}
