import { type Address, type AddressRange, isInRange, parseAddress, parseRange } from './address.js';
import { classify } from './address-ranges.js';

/** The entries of MCP_AGGREGATOR_EGRESS_ALLOW. */
export interface EgressAllowance {
  readonly ranges: readonly AddressRange[];
  /** Lower case, without a trailing dot. */
  readonly hosts: readonly string[];
}

export interface EgressPolicy {
  /** `public`: connections to this machine and to private networks are refused. */
  readonly mode: 'local' | 'public';
  readonly allow: EgressAllowance;
}

export const LOCAL_EGRESS: EgressPolicy = { mode: 'local', allow: { ranges: [], hosts: [] } };

/** Host names of cloud metadata services, refused whatever they resolve to. */
const METADATA_HOSTS = [
  ...['metadata.google.internal', 'metadata.goog', 'metadata', 'instance-data'],
  ...['instance-data.ec2.internal', 'metadata.tencentyun.com', 'metadata.packet.net'],
  ...['metadata.platformequinix.com', 'rancher-metadata'],
];

const ALLOWED_BY = 'unless MCP_AGGREGATOR_EGRESS_ALLOW names it';

/** The policy of the settings. */
export function egressPolicy(settings: {
  readonly MCP_AGGREGATOR_EGRESS: EgressPolicy['mode'];
  readonly MCP_AGGREGATOR_EGRESS_ALLOW: EgressAllowance;
}): EgressPolicy {
  return {
    mode: settings.MCP_AGGREGATOR_EGRESS,
    allow: settings.MCP_AGGREGATOR_EGRESS_ALLOW,
  };
}

/**
 * Why an address is refused, or undefined. An address that embeds an IPv4 address must be allowed both as itself and as
 * the embedded one: allowing NAT64 must not open the metadata service behind it.
 */
export function addressRefusal(text: string, policy: EgressPolicy): string | undefined {
  const address = parseAddress(text);
  return address ? refusalOf(address, policy) : `no IP address: refused`;
}

function refusalOf(address: Address, policy: EgressPolicy): string | undefined {
  const { kind, what, embedded } = classify(address);
  const isAllowed = policy.allow.ranges.some((range) => isInRange(address, range));
  if (embedded && isAllowed) {
    const inner = refusalOf(embedded, policy);
    return inner && `${what} of ${embedded.join('.')}, ${inner}`;
  }
  if (isAllowed || kind === 'public') return undefined;
  if (kind === 'reserved') return `${what}: refused ${ALLOWED_BY}`;
  if (policy.mode === 'local') return undefined;
  return `${what}: refused by MCP_AGGREGATOR_EGRESS=public ${ALLOWED_BY}`;
}

/** Why the host of a URL is refused. Most names can only be judged by their addresses (`Egress.lookup`). */
export function hostProblem(hostname: string, policy: EgressPolicy): string | undefined {
  const host = plainHost(hostname);
  if (isAllowedHost(host, policy)) return undefined;
  const reason = literalRefusal(host, policy);
  return reason && `${host} is ${reason}`;
}

function literalRefusal(host: string, policy: EgressPolicy): string | undefined {
  if (parseAddress(host)) return addressRefusal(host, policy);
  if (METADATA_HOSTS.includes(host)) {
    return `the metadata service of a cloud: refused ${ALLOWED_BY}`;
  }
  const isLocal = host === 'localhost' || host.endsWith('.localhost');
  return isLocal ? addressRefusal('127.0.0.1', policy) : undefined;
}

/** A name in the allow list: its addresses are the operator's responsibility. */
export function isAllowedHost(hostname: string, { allow }: EgressPolicy): boolean {
  return allow.hosts.includes(plainHost(hostname));
}

/** Undefined when an entry is neither a host name nor an address nor a range of addresses. */
export function parseAllowance(entries: readonly string[]): EgressAllowance | undefined {
  const ranges: AddressRange[] = [];
  const hosts: string[] = [];
  for (const entry of entries) {
    const range = parseRange(entry.replace(/^\[(.*)\]$/, '$1'));
    if (range) ranges.push(range);
    else if (isHostName(entry)) hosts.push(plainHost(entry));
    else return undefined;
  }
  return { ranges, hosts };
}

/** Rejects `10.0.0.256`: URLs parse a name with a numeric last label as IPv4. */
function isHostName(text: string): boolean {
  return (
    URL.canParse(`http://${text}/`) &&
    new URL(`http://${text}/`).hostname === text.toLowerCase() &&
    /^[a-z0-9_.-]+$/i.test(text)
  );
}

function plainHost(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}
