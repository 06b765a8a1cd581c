import { ServerNotFound } from './registry.errors.js';

/** For reactions to what happened to a server: when it has been removed since, nothing is left to do. */
export async function unlessRemoved(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof ServerNotFound)) throw error;
  }
}
