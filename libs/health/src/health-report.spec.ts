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

  it('says what waits for a person, also while all is well', () => {
    expect(healthReport(servers(4, 1), 'ok', 1)).toMatchObject({
      status: 'healthy',
      issues: [
        '1 server in error state',
        '1 server not authorized yet: switchboard authorize <server>',
      ],
    });
  });

  it('is degraded below that, and says why', () => {
    expect(healthReport(servers(2, 3), 'ok')).toEqual({
      status: 'degraded',
      checks: { database: 'ok', qdrant: 'ok', sessions: 'degraded' },
      servers: { total: 5, connected: 2, error: 3 },
      issues: ['3 servers in error state', 'only 2 of 5 servers that should be connected are'],
    });
  });

  it('does not count servers that nobody wants connected', () => {
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
    expect(healthReport(undefined, 'ok')).toMatchObject({
      status: 'unhealthy',
      checks: { database: 'down', sessions: 'unknown' },
    });
  });
});
