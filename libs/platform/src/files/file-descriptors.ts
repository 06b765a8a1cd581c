import { Logger } from '@nestjs/common';
import { readdirSync, readFileSync } from 'node:fs';

/** Needed by the service with its database and some clients; each STDIO server needs three more for its pipes. */
const BASE = 200;
const A_SERVER = 3;
/** Reserved from new server processes, so that clients are accepted and the database can open its files. */
const RESERVED = 48;

/** Warns at start about a low limit: servers that cannot be started and clients that are refused. */
export function warnOfFewDescriptors(maxServers: number): void {
  const limit = descriptorLimit();
  const needed = BASE + A_SERVER * maxServers;
  if (limit === undefined || limit >= needed) return;
  new Logger('platform').warn(
    {
      limit,
      needed,
      hint: `only ${limit} file descriptors are allowed; ${maxServers} servers may need ${needed}. Raise the limit (ulimit -n, LimitNOFILE of systemd, --ulimit nofile of Docker) or lower MCP_AGGREGATOR_MAX_SERVERS`,
    },
    'process.few_descriptors',
  );
}

/** Whether another process with its pipes would leave too few descriptors. */
export function areDescriptorsScarce(): boolean {
  const limit = descriptorLimit();
  return limit !== undefined && readdirSync('/proc/self/fd').length + RESERVED > limit;
}

/** Node raises its soft limit to the hard one at start. Undefined where the system does not report it, or sets none. */
function descriptorLimit(): number | undefined {
  try {
    // Read each time: it can change while the process runs.
    const limits = readFileSync('/proc/self/limits', 'utf8');
    return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1]) || undefined;
  } catch {
    return undefined;
  }
}
