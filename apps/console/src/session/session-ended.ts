type Listener = () => void;
const listeners = new Set<Listener>();

/** A request was answered with 401: the login is over, or its token was revoked. */
export const sessionEnded = {
  tell(): void {
    for (const listener of listeners) listener();
  },
  hear(listener: Listener): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};
