import { Logger } from '@nestjs/common';
import { type IEvent, UnhandledExceptionBus } from '@nestjs/cqrs';
import { jest } from '@jest/globals';
import { Metrics } from '../metrics/metrics.js';
import { AppError } from './app-error.js';
import { LogUnhandled } from './log-unhandled.js';

class SomethingHappened implements IEvent {
  constructor(readonly serverId: string) {}
}

class ServerAway extends AppError {
  constructor() {
    super('The server is away', { kind: 'unavailable', code: 'AWAY' });
  }
}

describe(LogUnhandled.name, () => {
  const failures = new UnhandledExceptionBus();
  const metrics = new Metrics();
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
  const error = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
  let log: LogUnhandled;
  beforeAll(() => {
    log = new LogUnhandled(failures, metrics);
  });
  beforeEach(() => {
    warn.mockClear();
    error.mockClear();
  });
  afterAll(() => {
    log.onModuleDestroy();
    jest.restoreAllMocks();
  });
  const fail = (exception: Error): void =>
    failures.publish({ cause: new SomethingHappened('s1'), exception });

  it('warns in words of what was to be expected', () => {
    fail(new ServerAway());
    expect(error).not.toHaveBeenCalled();
    expect(warn).toHaveBeenCalledWith(
      { event: 'SomethingHappened', serverId: 's1', code: 'AWAY' },
      'a listener could not go on: The server is away',
    );
  });

  it('shows where anything else came from', () => {
    const fault = new TypeError('x is not a function');
    fail(fault);
    expect(warn).not.toHaveBeenCalled();
    expect(error).toHaveBeenCalledWith(
      { event: 'SomethingHappened', serverId: 's1', err: fault },
      'a listener failed',
    );
  });

  it('counts both', async () => {
    fail(new TypeError('x is not a function'));
    expect(await metrics.registry.metrics()).toMatch(
      /mcp_aggregator_event_failures_total\{event="SomethingHappened"\} [1-9]/,
    );
  });
});
