import type { RpcId } from '@app/mcp-protocol';
import type { AppError } from '@app/platform';
import type { WireListener } from './wire.js';

/** A session that waits for the requests in `awaited`, until their answers come. */
export class FakeListener implements WireListener {
  readonly awaited = new Set<RpcId>();
  readonly frames: { readonly text: string; readonly during: RpcId | undefined }[] = [];
  readonly oversized: { readonly id: RpcId | undefined; readonly error: AppError }[] = [];
  readonly expired: number[] = [];
  readonly ends: AppError[] = [];

  onFrame(bytes: Buffer, during?: RpcId): boolean {
    const text = bytes.toString();
    this.frames.push({ text, during });
    const answered = /"id":(\d+)/.exec(text)?.[1];
    if (answered !== undefined && text.includes('"result"')) this.awaited.delete(Number(answered));
    return true;
  }

  onOversized(id: RpcId | undefined, error: AppError): void {
    this.oversized.push({ id, error });
  }

  onExpired(epoch: number): void {
    this.expired.push(epoch);
  }

  onEnd(error: AppError): void {
    this.ends.push(error);
  }

  awaits(id: RpcId): boolean {
    return this.awaited.has(id);
  }
}
