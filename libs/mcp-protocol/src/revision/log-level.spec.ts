import { admits, isLogLevel, moreTalkative } from './log-level.js';

describe('a log level', () => {
  it.each(['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'])(
    'may be %s',
    (level) => expect(isLogLevel(level)).toBe(true),
  );

  it.each(['trace', '', 3, null, undefined, ['info']])('is not %p', (level) => {
    expect(isLogLevel(level)).toBe(false);
  });

  it('admits itself and what is more severe', () => {
    expect(admits('warning', 'notice')).toBe(false);
    expect(admits('warning', 'warning')).toBe(true);
    expect(admits('warning', 'error')).toBe(true);
  });

  it('admits nothing that is no level, and nothing for a client that asked for none', () => {
    expect(admits('debug', 'trace')).toBe(false);
    expect(admits('debug', undefined)).toBe(false);
    expect(admits(undefined, 'emergency')).toBe(false);
  });

  it('of two is the less severe, which lets more messages through', () => {
    expect(moreTalkative('info', 'error')).toBe('info');
    expect(moreTalkative('error', 'info')).toBe('info');
    expect(moreTalkative('alert', 'alert')).toBe('alert');
  });
});
