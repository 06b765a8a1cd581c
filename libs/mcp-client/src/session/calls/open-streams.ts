import type { RpcId } from '@app/mcp-protocol';

interface Stream {
  /** Sends the request. Resolves when it is sent, or over where a stream has an HTTP exchange of its own. */
  send(): Promise<void>;
  /** Whether the stream is over once `send` resolves. */
  readonly endsWhenSent: boolean;
  cancel(): void;
}

/** Our requests that stay open to carry notifications: an answer ends the stream, no call waits for it. */
export class OpenStreams {
  private readonly ends = new Map<RpcId, () => void>();

  get size(): number {
    return this.ends.size;
  }

  has(id: RpcId): boolean {
    return this.ends.has(id);
  }

  /** Resolves when the stream ends, for any reason; `opened` gets the function that cancels it. */
  open(id: RpcId, stream: Stream, opened: (cancel: () => void) => void): Promise<void> {
    return new Promise((resolve) => {
      const over = (): void => {
        if (this.ends.delete(id)) resolve();
      };
      this.ends.set(id, over);
      opened(() => {
        over();
        stream.cancel();
      });
      stream.send().then(() => {
        if (stream.endsWhenSent) over();
      }, over);
    });
  }

  /** Does nothing for other requests. */
  end(id: RpcId): void {
    this.ends.get(id)?.();
  }

  endAll(): void {
    for (const over of [...this.ends.values()]) over();
  }
}
