import { healthReport, type ServerForReport } from './health-report.js';

const servers = (connected: number, error: number, unwanted = 0): ServerForReport[] => [
  ...Array.from({ length: connected }, (_, i) => ({
    name: `c${i}`,
    status: 'CONNECTED',
    wanted: true,
  })),
  ...Array.from({ length: error }, (_, i) => ({ name: `e${i}`, status: 'ERROR', wanted: true })),
  ...Array.from({ length: unwanted }, (_, i) => ({
    name: `d${i}`,
    status: 'DISCONNECTED',
    wanted: false,
  })),
];

describe(healthReport.name, () => {
  it('is healthy while four of five wanted servers are connected', () => {
    expect(healthReport(servers(4, 1), 'ok')).toEqual({
      status: 'healthy',
      checks: { database: 'ok', qdrant: 'ok', sessions: 'ok' },
      servers: { total: 5, connected: 4, error: 1 },
    });
  });

  it('names servers that need a person, even while healthy', () => {
    expect(healthReport(servers(4, 1), 'ok', 1)).toMatchObject({
      status: 'healthy',
      issues: [
        '1 server in error state',
        '1 server not authorized yet: switchboard authorize <server>',
      ],
    });
  });

  it('names connected servers whose lists could not be read, even while healthy', () => {
    const unlisted = { name: 'u', status: 'CONNECTED', wanted: true, isUnlisted: true };
    const gone = { name: 'g', status: 'DISCONNECTED', wanted: false, isUnlisted: true };
    expect(healthReport([...servers(4, 0), unlisted, gone], 'ok')).toMatchObject({
      status: 'healthy',
      issues: ['1 server connected whose tools, prompts or resources could not be listed'],
    });
  });

  it('is degraded below that, and names the reason', () => {
    expect(healthReport(servers(2, 3), 'ok')).toEqual({
      status: 'degraded',
      checks: { database: 'ok', qdrant: 'ok', sessions: 'degraded' },
      servers: { total: 5, connected: 2, error: 3 },
      issues: ['3 servers in error state', 'only 2 of 5 servers that should be connected are'],
    });
  });

  it('names each wanted server without a connection in exactly one count', () => {
    const statuses = ['ERROR', 'DEGRADED', 'DEGRADED', 'CONNECTING', 'DISCONNECTED', 'CONNECTED'];
    const wanted = statuses.map((status, i) => ({ name: `s${i}`, status, wanted: true }));
    expect(healthReport([...wanted, ...servers(0, 0, 3)], 'ok')).toMatchObject({
      servers: { total: 9, connected: 1, error: 1 },
      issues: [
        '1 server in error state',
        '2 servers degraded',
        '2 servers not connected yet',
        'only 1 of 6 servers that should be connected are',
      ],
    });
  });

  it('uses the singular for one server', () => {
    expect(healthReport(servers(0, 1), 'ok').issues).toEqual([
      '1 server in error state',
      'the only server that should be connected is not',
    ]);
  });

  it('does not count servers that are not wanted', () => {
    expect(healthReport(servers(1, 0, 9), 'embedded').status).toBe('healthy');
  });

  it('is healthy without any server', () => {
    expect(healthReport([], 'embedded').status).toBe('healthy');
  });

  it('is degraded when Qdrant is configured and down', () => {
    expect(healthReport([], 'down')).toMatchObject({
      status: 'degraded',
      issues: ['Qdrant does not answer: search is lexical until it does'],
    });
  });

  it('is unhealthy when the database does not answer', () => {
    expect(healthReport(undefined, 'ok', 0, 'no answer')).toMatchObject({
      status: 'unhealthy',
      checks: { database: 'down', sessions: 'unknown' },
      issues: ['no answer'],
    });
  });

  it('is degraded when the database answers and the servers cannot be read', () => {
    expect(healthReport(undefined, 'ok')).toEqual({
      status: 'degraded',
      checks: { database: 'ok', qdrant: 'ok', sessions: 'unknown' },
      issues: ['the rows of the servers could not be read in time: their table may be locked'],
    });
  });
});
