import { Logger } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { EventsHandler, type IEvent, UnhandledExceptionBus } from '@nestjs/cqrs';
import { jest } from '@jest/globals';
import { TestMetrics } from '../../../../test/support/metrics.js';
import { AppError } from './app-error.js';
import { ListenerNames } from './listener-names.js';
import { eventFailures, LogUnhandled } from './log-unhandled.js';

class SomethingHappened implements IEvent {
  constructor(readonly serverId: string) {}
}

class ServerAway extends AppError {
  constructor() {
    super('The server is away', { kind: 'unavailable', code: 'AWAY' });
  }
}

@EventsHandler(SomethingHappened)
class TellSomeone {
  handle(_event: SomethingHappened): Promise<void> {
    return Promise.reject(new ServerAway());
  }
}

describe(LogUnhandled.name, () => {
  const failures = new UnhandledExceptionBus();
  const metrics = new TestMetrics();
  const listener = new TellSomeone();
  const names = new ListenerNames(
    Object.assign(Object.create(DiscoveryService.prototype) as DiscoveryService, {
      getProviders: () => [{ instance: listener, metatype: TellSomeone }],
    }),
  );
  names.onModuleInit();
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
  const error = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
  let log: LogUnhandled;
  beforeAll(() => {
    log = new LogUnhandled(failures, metrics.of(eventFailures), names);
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

  it('logs an expected failure as a warning', () => {
    fail(new ServerAway());
    expect(error).not.toHaveBeenCalled();
    expect(warn).toHaveBeenCalledWith(
      {
        event: 'SomethingHappened',
        server_id: 's1',
        code: 'AWAY',
        reason: 'The server is away',
      },
      'listener.refused',
    );
  });

  it('logs any other failure with its stack', () => {
    const fault = new TypeError('x is not a function');
    fail(fault);
    expect(warn).not.toHaveBeenCalled();
    expect(error).toHaveBeenCalledWith(
      { event: 'SomethingHappened', server_id: 's1', err: fault },
      'listener.failed',
    );
  });

  it('names the listener, and not only the event', async () => {
    const failed = await listener
      .handle(new SomethingHappened('s1'))
      .catch((reason: unknown) => reason);
    if (!(failed instanceof ServerAway)) throw new Error('the listener did not fail');
    fail(failed);
    expect(warn).toHaveBeenCalledWith(
      expect.objectContaining({ event: 'SomethingHappened', listener: 'TellSomeone' }),
      expect.any(String),
    );
  });

  it('counts both', async () => {
    fail(new TypeError('x is not a function'));
    expect(await metrics.registry.metrics()).toMatch(
      /mcp_aggregator_event_failures_total\{event="SomethingHappened"\} [1-9]/,
    );
  });
});
