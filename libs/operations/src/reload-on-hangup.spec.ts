import { Logger } from '@nestjs/common';
import type { CommandBus } from '@nestjs/cqrs';
import { setImmediate as turn } from 'node:timers/promises';
import { reloadOnHangup } from './reload-on-hangup.js';

describe(reloadOnHangup.name, () => {
  const before = process.listeners('SIGHUP');
  afterEach(() => {
    for (const listener of process.listeners('SIGHUP')) {
      if (!before.includes(listener)) process.off('SIGHUP', listener);
    }
  });

  it('reloads when the service has started, also for a signal that came before', async () => {
    Logger.overrideLogger(false);
    let reloads = 0;
    const commands = {
      execute: () => {
        reloads += 1;
        return Promise.resolve({ file: 'mcp.json', registered: [], skipped: [] });
      },
    } as unknown as CommandBus;
    const begin = reloadOnHangup(false);
    process.emit('SIGHUP');
    await turn();
    expect(reloads).toBe(0);
    begin(commands);
    await turn();
    expect(reloads).toBe(1);
    process.emit('SIGHUP');
    await turn();
    expect(reloads).toBe(2);
  });

  it('leaves the signal of a closed terminal alone', () => {
    reloadOnHangup(true);
    expect(process.listeners('SIGHUP')).toEqual(before);
  });
});
