/** The health of the service (contract R21). */
export interface HealthReport {
  readonly status: 'healthy' | 'degraded' | 'unhealthy';
  readonly checks: {
    readonly database: 'ok' | 'down';
    readonly qdrant: QdrantState;
    readonly sessions: 'ok' | 'degraded' | 'unknown';
  };
  readonly servers?: { readonly total: number; readonly connected: number; readonly error: number };
  readonly issues?: readonly string[];
}

/** `embedded`: no Qdrant is configured, the index is in this process. */
export type QdrantState = 'ok' | 'down' | 'embedded';

export interface ServerForReport {
  readonly name: string;
  readonly status: string;
  /** False after a disconnect by request. */
  readonly wanted: boolean;
  /** One of its lists of tools, prompts or resources could not be read. */
  readonly isUnlisted?: boolean;
}

/** A statement on their table did not end in time, while others do. */
const UNREAD = 'the rows of the servers could not be read in time: their table may be locked';
/** Used when the database gives no reason. */
export const NO_ANSWER = 'the database does not answer';

const ENOUGH_CONNECTED = 0.8;

/**
 * `servers` is undefined when they could not be read; `unauthorized` is how many of them need a person; `problem`
 * is why rows cannot be read or written.
 */
export function healthReport(
  servers: readonly ServerForReport[] | undefined,
  qdrant: QdrantState,
  unauthorized = 0,
  problem?: string,
): HealthReport {
  if (problem !== undefined) {
    return {
      status: 'unhealthy',
      checks: { database: 'down', qdrant, sessions: 'unknown' },
      issues: [problem],
    };
  }
  if (!servers) {
    return {
      status: 'degraded',
      checks: { database: 'ok', qdrant, sessions: 'unknown' },
      issues: [UNREAD],
    };
  }
  const wanted = servers.filter((server) => server.wanted);
  const enough = countIn(wanted, 'CONNECTED') >= ENOUGH_CONNECTED * wanted.length;
  const unlisted = wanted.filter(({ status, isUnlisted }) => isUnlisted && isConnected(status));
  const issues = [
    ...serverIssues(wanted, enough),
    ...(unlisted.length > 0
      ? [
          `${countOf(unlisted.length)} connected whose tools, prompts or resources could not be listed`,
        ]
      : []),
    ...(unauthorized > 0
      ? [`${countOf(unauthorized)} not authorized yet: switchboard authorize <server>`]
      : []),
    ...(qdrant === 'down' ? ['Qdrant does not answer: search is lexical until it does'] : []),
  ];
  const healthy = enough && qdrant !== 'down';
  return {
    status: healthy ? 'healthy' : 'degraded',
    checks: { database: 'ok', qdrant, sessions: enough ? 'ok' : 'degraded' },
    servers: {
      total: servers.length,
      connected: countIn(servers, 'CONNECTED'),
      error: countIn(servers, 'ERROR'),
    },
    ...((!healthy || unauthorized > 0 || unlisted.length > 0) && { issues }),
  };
}

/** Each wanted server without a connection is in exactly one of the counts. */
function serverIssues(wanted: readonly ServerForReport[], enough: boolean): string[] {
  const connected = countIn(wanted, 'CONNECTED');
  const error = countIn(wanted, 'ERROR');
  const degraded = countIn(wanted, 'DEGRADED');
  const others = wanted.length - connected - error - degraded;
  return [
    ...(error > 0 ? [`${countOf(error)} in error state`] : []),
    ...(degraded > 0 ? [`${countOf(degraded)} degraded`] : []),
    ...(others > 0 ? [`${countOf(others)} not connected yet`] : []),
    ...(enough ? [] : [tooFew(connected, wanted.length)]),
  ];
}

function tooFew(connected: number, wanted: number): string {
  if (wanted === 1) return 'the only server that should be connected is not';
  return `only ${connected} of ${wanted} servers that should be connected are`;
}

function isConnected(status: string): boolean {
  return status === 'CONNECTED' || status === 'DEGRADED';
}

function countIn(servers: readonly ServerForReport[], status: string): number {
  return servers.filter((server) => server.status === status).length;
}

function countOf(count: number): string {
  return count === 1 ? '1 server' : `${count} servers`;
}
