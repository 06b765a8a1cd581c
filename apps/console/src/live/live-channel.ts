import { useEffect, useRef, useSyncExternalStore } from 'react';

/**
 * One event of `GET /api/v1/events`. Two topics are about the stream itself: `gap` says that events were left out, `rate`
 * how many calls there really are.
 */
export interface LiveEvent {
  readonly id: string;
  readonly at: string;
  readonly topic: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export type LiveState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  | { readonly kind: 'lost'; readonly since: number };

type Listener = (event: LiveEvent) => void;

/** One connection for the whole page, open while it is shown. The browser connects again and resumes by itself. */
class LiveChannel {
  private readonly listeners = new Set<Listener>();
  private readonly watchers = new Set<() => void>();
  private source: EventSource | undefined;
  private current: LiveState = { kind: 'connecting' };

  readonly state = (): LiveState => this.current;

  readonly watch = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  hear(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  open(): void {
    if (this.source) return;
    const source = new EventSource('/api/v1/events');
    this.source = source;
    source.addEventListener('open', () => this.become({ kind: 'live' }));
    source.addEventListener('error', () => {
      if (this.current.kind !== 'lost') this.become({ kind: 'lost', since: performance.now() });
    });
    source.addEventListener('message', (event) => this.deliver(event));
  }

  close(): void {
    this.source?.close();
    this.source = undefined;
    this.become({ kind: 'connecting' });
  }

  private deliver(event: MessageEvent<string>): void {
    const parsed = JSON.parse(event.data) as LiveEvent;
    for (const listener of this.listeners) listener(parsed);
  }

  private become(state: LiveState): void {
    this.current = state;
    for (const watcher of this.watchers) watcher();
  }
}

export const liveChannel = new LiveChannel();

export function useLiveState(): LiveState {
  return useSyncExternalStore(liveChannel.watch, liveChannel.state);
}

/** Calls the newest `listener` for each event while the component is shown. */
export function useLiveEvents(listener: Listener): void {
  const newest = useRef(listener);
  useEffect(() => {
    newest.current = listener;
  });
  useEffect(() => liveChannel.hear((event) => newest.current(event)), []);
}
