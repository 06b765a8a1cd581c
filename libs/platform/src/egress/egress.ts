import { lookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { Agent, buildConnector } from 'undici';
import {
  addressRefusal,
  type EgressPolicy,
  hostProblem,
  isAllowedHost,
  LOCAL_EGRESS,
} from './egress-policy.js';

/** Every address of a name; `dns.lookup` outside tests. */
export type Resolve = (
  hostname: string,
  done: (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void,
) => void;

/** The connection was refused because of its destination. The message is shown to operators and callers. */
export class EgressRefused extends Error {
  readonly code = 'EGRESS_REFUSED';

  constructor(problem: string) {
    super(problem);
    this.name = new.target.name;
  }
}

const system: Resolve = (hostname, done) => lookup(hostname, { all: true }, done);

/**
 * Where the service may connect to for servers and for URLs that servers name. The checked addresses are those that are
 * connected to: a name is resolved once for both, which rules out DNS rebinding. A host with one refused address is
 * refused as a whole, because its DNS server decides which address is tried first.
 */
export class Egress {
  constructor(
    readonly policy: EgressPolicy = LOCAL_EGRESS,
    private readonly resolve: Resolve = system,
  ) {}

  /** Why the host of a URL is refused by its text alone: `lookup` is not called for IP addresses. */
  hostProblem(hostname: string): string | undefined {
    return hostProblem(hostname, this.policy);
  }

  /** For `net.connect` and `tls.connect`, together with `hostProblem`. */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    const family = options.family === 'IPv4' ? 4 : options.family === 'IPv6' ? 6 : options.family;
    this.resolve(hostname, (error, found) => {
      const refusal = error ?? this.refusalOf(hostname, found);
      if (refusal) return callback(refusal, '');
      const addresses = found.filter((one) => !family || one.family === family);
      const [first] = addresses;
      if (options.all) callback(null, addresses);
      else if (first) callback(null, first.address, first.family);
      else callback(noAddress(hostname), '');
    });
  };

  /** Every address of a host, all checked. */
  addressesOf(hostname: string): Promise<LookupAddress[]> {
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    return new Promise((resolve, reject) => {
      const problem = this.hostProblem(host);
      if (problem) return reject(new EgressRefused(problem));
      this.resolve(host, (error, found) => {
        const refusal = error ?? this.refusalOf(host, found);
        if (refusal) reject(refusal);
        else resolve([...found]);
      });
    });
  }

  /** An undici dispatcher that applies the egress policy; it ignores proxy variables of the environment. */
  async agent(options: buildConnector.BuildOptions = {}): Promise<Agent> {
    const undici = await import('undici');
    const open = undici.buildConnector({ ...options, lookup: this.lookup });
    return new undici.Agent({
      connect: (target, callback) => {
        const problem = this.hostProblem(target.hostname);
        if (problem) callback(new EgressRefused(problem), null);
        else open(target, callback);
      },
    });
  }

  private refusalOf(
    hostname: string,
    addresses: readonly LookupAddress[],
  ): EgressRefused | NodeJS.ErrnoException | undefined {
    if (addresses.length === 0) return noAddress(hostname);
    if (isAllowedHost(hostname, this.policy)) return undefined;
    for (const { address } of addresses) {
      const reason = addressRefusal(address, this.policy);
      if (reason) return new EgressRefused(`${hostname} has the address ${address}, ${reason}`);
    }
    return undefined;
  }
}

function noAddress(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' });
}
