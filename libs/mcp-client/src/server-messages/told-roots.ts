import type { JsonObject } from '@app/platform';

/** Time for a server to request the roots again after `roots/list_changed`. */
const ASKS_WITHIN_MS = 3_000;

interface Clearing {
  readonly done: Promise<void>;
  readonly finish: () => void;
}

/**
 * A server keeps the roots that it requested outside of any call, and they may show in its answers to any caller.
 * So before a call of another principal is sent, the server has to request them again and gets an empty list
 * (contract R51).
 */
export class ToldRoots {
  private principal: string | undefined;
  private clearing: Clearing | undefined;

  /** `announce` sends `roots/list_changed`, `ping` resolves when the server answers, `giveUp` ends the session. */
  constructor(
    private readonly announce: () => void,
    private readonly ping: () => Promise<unknown>,
    private readonly giveUp: (reason: string) => void,
  ) {}

  /** While true, every `roots/list` is answered with an empty list. */
  get isClearing(): boolean {
    return this.clearing !== undefined;
  }

  /** Call this before an answer outside of any exchange is sent; returns whether it contains roots. */
  told(result: JsonObject, principal: string | undefined): boolean {
    if (!hasRoots(result)) return false;
    this.principal = principal;
    return true;
  }

  /** Call this after answering a `roots/list` that came while the roots were being withdrawn. */
  cleared(result: JsonObject): void {
    const { clearing } = this;
    if (!clearing || hasRoots(result)) return;
    const finish = (): void => {
      if (this.clearing === clearing) clearing.finish();
    };
    // The ping orders the two: a call sent right after the answer could be worked on before the answer is read.
    this.ping().then(finish, finish);
  }

  /** Undefined when a call of this principal may be sent at once; otherwise resolves when it may. */
  admit(principal: string): Promise<void> | undefined {
    if (!this.clearing) {
      if (this.principal === undefined || this.principal === principal) return undefined;
      this.clear();
    }
    return this.clearing?.done;
  }

  private clear(): void {
    let finish = (): void => undefined;
    const done = new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        this.giveUp('it keeps the roots of another user');
        finish();
      }, ASKS_WITHIN_MS);
      finish = () => {
        clearTimeout(timer);
        this.principal = undefined;
        this.clearing = undefined;
        resolve();
      };
    });
    this.clearing = { done, finish };
    this.announce();
  }
}

function hasRoots({ roots }: JsonObject): boolean {
  return Array.isArray(roots) && roots.length > 0;
}
