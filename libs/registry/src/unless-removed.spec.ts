import { ServerNotFound } from './registry.errors.js';
import { unlessRemoved } from './unless-removed.js';

describe(unlessRemoved.name, () => {
  it('ends quietly for a server that was removed meanwhile', async () => {
    const work = (): Promise<void> => Promise.reject(new ServerNotFound('gone'));
    await expect(unlessRemoved(work)).resolves.toBeUndefined();
  });

  it('rethrows every other error', async () => {
    const work = (): Promise<void> => Promise.reject(new Error('full disk'));
    await expect(unlessRemoved(work)).rejects.toThrow('full disk');
  });
});
