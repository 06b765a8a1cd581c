/** Less than the time that a test has (jest.config.mjs), so that the last failure is reported and not the timeout. */
const WITHIN_MS = 120_000;

/**
 * Polls until the assertion holds; throws the last failure. It has no time of its own to set: no test may depend on how
 * fast a machine is.
 */
export async function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  const endsAt = performance.now() + WITHIN_MS;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > endsAt) throw error;
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
    }
  }
}
