import { isJsonObject, type JsonObject } from '@app/platform';

const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 60_000;

/** Resolves when the stream is over; `opened` gets the function that ends it. */
export type OpenStream = (
  params: JsonObject,
  opened: (cancel: () => void) => void,
) => Promise<void>;

/**
 * Modern servers send change notifications only on a stream that the client requests (`subscriptions/listen`).
 * Keeps one open, and requests a new one when it ends or when the set of watched resources changes.
 */
export class ModernSubscription {
  private readonly uris = new Set<string>();
  private cancel: (() => void) | undefined;
  private stopped = false;
  private changed = false;
  private wake: (() => void) | undefined;

  constructor(
    private readonly capabilities: () => JsonObject,
    private readonly open: OpenStream,
  ) {}

  start(): void {
    void this.run();
  }

  setResource(uri: string, watched: boolean): void {
    if (watched) this.uris.add(uri);
    else this.uris.delete(uri);
    this.changed = true;
    this.cancel?.();
    this.wake?.();
  }

  stop(): void {
    this.stopped = true;
    this.wake?.();
  }

  private async run(): Promise<void> {
    let wait = FIRST_WAIT_MS;
    while (!this.stopped) {
      this.changed = false;
      const notifications = this.filter();
      if (Object.keys(notifications).length === 0) await this.pause();
      else {
        await this.open({ notifications }, (cancel) => {
          this.cancel = cancel;
        });
        this.cancel = undefined;
        if (!this.changed && !this.stopped) await this.pause(wait);
      }
      wait = this.changed ? FIRST_WAIT_MS : Math.min(wait * 2, MAX_WAIT_MS);
    }
  }

  private filter(): JsonObject {
    const capabilities = this.capabilities();
    const announces = (what: string): boolean => {
      const capability = capabilities[what];
      return isJsonObject(capability) && capability['listChanged'] === true;
    };
    return {
      ...(announces('tools') && { toolsListChanged: true }),
      ...(announces('prompts') && { promptsListChanged: true }),
      ...(announces('resources') && { resourcesListChanged: true }),
      ...(this.uris.size > 0 && { resourceSubscriptions: [...this.uris] }),
    };
  }

  /** Waits until the subscription changes, or for `ms`. */
  private pause(ms?: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(resolve, ms).unref();
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
