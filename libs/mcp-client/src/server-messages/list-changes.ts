import type { JsonObject } from '@app/platform';

const methods = new Set([
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
]);

export function isListChange(method: string): boolean {
  return methods.has(method);
}

/**
 * Coalesces `list_changed` notifications instead of limiting their rate: a limit could drop the last one, and
 * the catalogue would stay outdated. The first is delivered at once; any number that follow in the same turn of
 * the event loop are delivered as one at its end.
 */
export class ListChanges {
  /** Delivered in this turn of the event loop, with the params of a later notification to deliver at its end. */
  private readonly delivered = new Map<string, JsonObject | undefined>();
  private isClosed = false;

  constructor(private readonly deliver: (method: string, params: JsonObject) => void) {}

  note(method: string, params: JsonObject): void {
    if (this.isClosed) return;
    if (this.delivered.has(method)) return void this.delivered.set(method, params);
    this.delivered.set(method, undefined);
    if (this.delivered.size === 1) setImmediate(() => this.endTurn());
    this.deliver(method, params);
  }

  close(): void {
    this.isClosed = true;
  }

  private endTurn(): void {
    const noted = [...this.delivered];
    this.delivered.clear();
    for (const [method, params] of noted) if (params) this.note(method, params);
  }
}
