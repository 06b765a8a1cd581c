import { CommandBus, CqrsModule, UnhandledExceptionBus } from '@nestjs/cqrs';
import { Test } from '@nestjs/testing';
import { HealthFailed, HealthRecovered } from '@app/events';
import { Signals } from '@app/platform';
import { type ChangeServerStatus, ServerNotFound } from '@app/registry';
import { SessionPool } from '@app/sessions';
import { ChangeStatusOnHealthChanges } from './change-status.on-health-changes.js';

describe(ChangeStatusOnHealthChanges.name, () => {
  const done: string[] = [];
  const unhandled: unknown[] = [];
  let signals: Signals;

  beforeEach(async () => {
    done.length = 0;
    const commands = {
      execute: ({ serverId, signal }: ChangeServerStatus) =>
        serverId === 'removed'
          ? Promise.reject(new ServerNotFound(serverId))
          : Promise.resolve(void done.push(`${serverId} ${signal}`)),
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
    module.get(UnhandledExceptionBus).subscribe(({ exception }) => unhandled.push(exception));
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

  it.each([new HealthFailed('removed', 2, 'no answer'), new HealthRecovered('removed')])(
    'ignores a server that has been removed since: %j',
    async (event) => {
      await signals.tell(event);
      expect(unhandled).toEqual([]);
    },
  );
});
