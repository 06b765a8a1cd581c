/** What the service says about itself (RULINGS R21). */
export interface HealthReport {
  readonly status: 'healthy' | 'degraded' | 'unhealthy';
  readonly checks: {
    readonly database: 'ok' | 'down';
    readonly qdrant: 'ok' | 'down' | 'embedded';
    readonly sessions: 'ok' | 'degraded' | 'unknown';
  };
  readonly servers?: { readonly total: number; readonly connected: number; readonly error: number };
  readonly issues?: readonly string[];
}

export interface ServerForReport {
  readonly name: string;
  readonly status: string;
  readonly wanted: boolean;
}

const ENOUGH_CONNECTED = 0.8;

/** `servers` is undefined when the database does not say; `unauthorized` of them wait for a person. */
export function healthReport(
  servers: readonly ServerForReport[] | undefined,
  qdrant: HealthReport['checks']['qdrant'],
  unauthorized = 0,
): HealthReport {
  if (!servers) {
    return {
      status: 'unhealthy',
      checks: { database: 'down', qdrant, sessions: 'unknown' },
      issues: ['the database does not answer'],
    };
  }
  const connected = servers.filter((server) => server.status === 'CONNECTED');
  const error = servers.filter((server) => server.status === 'ERROR');
  const wanted = servers.filter((server) => server.wanted);
  const missing = wanted.filter((server) => server.status !== 'CONNECTED');
  const enough = wanted.length - missing.length >= ENOUGH_CONNECTED * wanted.length;
  const issues = [
    ...(error.length > 0 ? [`${countOf(error.length)} in error state`] : []),
    ...(enough
      ? []
      : [
          `only ${wanted.length - missing.length} of ${countOf(wanted.length)} that should be connected are`,
        ]),
    ...(unauthorized > 0
      ? [`${countOf(unauthorized)} not authorized yet: switchboard authorize <server>`]
      : []),
    ...(qdrant === 'down' ? ['Qdrant does not answer: search is lexical until it does'] : []),
  ];
  const healthy = enough && qdrant !== 'down';
  return {
    status: healthy ? 'healthy' : 'degraded',
    checks: { database: 'ok', qdrant, sessions: enough ? 'ok' : 'degraded' },
    servers: { total: servers.length, connected: connected.length, error: error.length },
    ...((!healthy || unauthorized > 0) && { issues }),
  };
}

function countOf(count: number): string {
  return count === 1 ? '1 server' : `${count} servers`;
}
