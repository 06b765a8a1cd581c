import { CommandBus, CqrsModule } from '@nestjs/cqrs';
import { Test } from '@nestjs/testing';
import { HealthFailed, HealthRecovered } from '@app/events';
import { Signals } from '@app/platform';
import type { ChangeServerStatus } from '@app/registry';
import { SessionPool } from '@app/sessions';
import { ChangeStatusOnHealthChanges } from './change-status.on-health-changes.js';

describe(ChangeStatusOnHealthChanges.name, () => {
  const done: string[] = [];
  let signals: Signals;

  beforeEach(async () => {
    done.length = 0;
    const commands = {
      execute: ({ serverId, signal }: ChangeServerStatus) =>
        Promise.resolve(void done.push(`${serverId} ${signal}`)),
    };
    const pool = { reset: (id: string) => Promise.resolve(void done.push(`${id} reset`)) };
    const module = await Test.createTestingModule({
      imports: [CqrsModule.forRoot()],
      providers: [Signals, ChangeStatusOnHealthChanges, { provide: SessionPool, useValue: pool }],
    })
      .overrideProvider(CommandBus)
      .useValue(commands)
      .compile();
    signals = module.get(Signals);
    module.get(ChangeStatusOnHealthChanges).onModuleInit();
  });

  it.each([
    [1, []],
    [2, ['a degraded']],
    [3, ['a failed', 'a reset']],
    [4, ['a failed', 'a reset']],
  ])('after %i consecutive failures does %j', async (failures, expected) => {
    await signals.tell(new HealthFailed('a', failures, 'no answer'));
    expect(done).toEqual(expected);
  });

  it('recovers a server after a successful check', async () => {
    await signals.tell(new HealthRecovered('a'));
    expect(done).toEqual(['a recovered']);
  });
});
