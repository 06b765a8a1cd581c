import fc from 'fast-check';
import {
  isServing,
  isWithdrawn,
  nextStatus,
  type ServerStatus,
  serverStatuses,
  type StatusSignal,
} from './server-status.js';

const signals: StatusSignal[] = [
  'connect',
  'connected',
  'connection-failed',
  'disconnecting',
  'disconnect',
  'degraded',
  'failed',
  'recovered',
];

/** The table of contract R13, and DISCONNECTING of BR-007. */
const contract: readonly (readonly [ServerStatus, StatusSignal, ServerStatus])[] = [
  ['DISCONNECTED', 'connect', 'CONNECTING'],
  ['CONNECTING', 'connected', 'CONNECTED'],
  ['CONNECTING', 'connection-failed', 'ERROR'],
  ['CONNECTING', 'disconnect', 'DISCONNECTED'],
  ['CONNECTED', 'disconnect', 'DISCONNECTED'],
  ['CONNECTED', 'disconnecting', 'DISCONNECTING'],
  ['DEGRADED', 'disconnecting', 'DISCONNECTING'],
  ['DISCONNECTING', 'disconnect', 'DISCONNECTED'],
  ['DISCONNECTING', 'connect', 'CONNECTING'],
  ['CONNECTED', 'degraded', 'DEGRADED'],
  ['CONNECTED', 'failed', 'ERROR'],
  ['DEGRADED', 'recovered', 'CONNECTED'],
  ['DEGRADED', 'failed', 'ERROR'],
  ['DEGRADED', 'disconnect', 'DISCONNECTED'],
  ['ERROR', 'connect', 'CONNECTING'],
  ['ERROR', 'disconnect', 'DISCONNECTED'],
];

describe(nextStatus.name, () => {
  it.each(contract)('%s on %s becomes %s', (from, signal, to) => {
    expect(nextStatus(from, signal)).toBe(to);
  });

  const refused = serverStatuses.flatMap((from) =>
    signals
      .filter((signal) => !contract.some(([f, s]) => f === from && s === signal))
      .map((signal) => [from, signal] as const),
  );
  it.each(refused)('%s refuses %s', (from, signal) => {
    expect(nextStatus(from, signal)).toBeUndefined();
  });

  it('reaches CONNECTED only through CONNECTING or DEGRADED, in any order of signals', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...signals)), (history) => {
        let status: ServerStatus = 'DISCONNECTED';
        for (const signal of history) {
          const next: ServerStatus = nextStatus(status, signal) ?? status;
          if (next === 'CONNECTED' && status !== 'CONNECTED') {
            expect(['CONNECTING', 'DEGRADED']).toContain(status);
          }
          status = next;
        }
        expect(nextStatus(status, 'disconnect') ?? status).toBe('DISCONNECTED');
      }),
    );
  });
});

describe(isServing.name, () => {
  it('holds for CONNECTED and DEGRADED only', () => {
    expect(serverStatuses.filter(isServing)).toEqual(['CONNECTED', 'DEGRADED']);
  });
});

describe(isWithdrawn, () => {
  it.each(['DISCONNECTED', 'DISCONNECTING'] as const)('is a server that is %s', (status) => {
    expect(isWithdrawn(status)).toBe(true);
  });

  it.each(['CONNECTING', 'CONNECTED', 'DEGRADED', 'ERROR'] as const)(
    'is no server that is %s',
    (status) => expect(isWithdrawn(status)).toBe(false),
  );
});
