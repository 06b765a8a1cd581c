/** The first value that `check` gives without throwing, tried again and again for a while. */
export async function eventually<T>(check: () => Promise<T> | T, forMs = 5_000): Promise<T> {
  const end = Date.now() + forMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() >= end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
