import { type Drain } from '@app/platform';
import { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * SIGTERM stops the service after a delay, in which it serves on and says that it is not ready, so that load balancers
 * send nothing more when it refuses. SIGINT, as of a person at a terminal, stops it now; a second one ends the process.
 */
export function stopOnSignals(drain: Drain, delayMs: number, stop: () => Promise<void>): void {
  const hurry = new AbortController();
  const begin = async (): Promise<void> => {
    if (drain.isStopping) return;
    drain.announce();
    if (!hurry.signal.aborted && delayMs > 0) {
      new Logger('switchboard').log({ seconds: delayMs / 1_000 }, 'service.leaving');
      await sleep(delayMs, undefined, { signal: hurry.signal }).catch(() => undefined);
    }
    await stop();
  };
  // Some supervisors send it to the process and to its group.
  process.on('SIGTERM', () => void begin());
  process.once('SIGINT', () => {
    hurry.abort();
    void begin();
  });
}
