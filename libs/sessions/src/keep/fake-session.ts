import type {
  CloseOptions,
  NotificationHandler,
  RootsProvider,
  SessionEnd,
  UpstreamSession,
} from '@app/mcp-client';
import { Provenance } from '@app/mcp-protocol';
import { type JsonObject, RawJsonObject } from '@app/platform';

/** Test double of an open session; the test controls what it returns. */
export class FakeSession implements UpstreamSession {
  readonly era = 'legacy';
  readonly protocolVersion = '2025-11-25';
  readonly serverInfo: JsonObject = { name: 'fake' };
  readonly capabilities: JsonObject = { tools: {} };
  readonly provenance = Provenance.none;
  readonly closed: Promise<SessionEnd>;
  pending = 0;
  readonly verified = Promise.resolve();
  closeOptions: CloseOptions | undefined;
  end!: (end: SessionEnd) => void;
  private readonly handlers = new Set<NotificationHandler>();
  readonly user = undefined;
  rootsProvider: RootsProvider | undefined;

  constructor() {
    this.closed = new Promise((resolve) => {
      this.end = resolve;
    });
  }

  lose(reason = 'it went away'): void {
    this.end({ reason, cause: 'lost' });
  }

  say(method: string, params: JsonObject = {}): void {
    for (const handler of this.handlers) handler(method, params, undefined);
  }

  request(): Promise<JsonObject> {
    return Promise.resolve({});
  }
  requestBytes(): Promise<RawJsonObject> {
    return Promise.resolve(RawJsonObject.of({}));
  }
  notify(): Promise<void> {
    return Promise.resolve();
  }
  onNotification(handler: NotificationHandler): () => void {
    this.handlers.add(handler);
    return () => this.handlers.delete(handler);
  }
  setRootsProvider(provider: RootsProvider): void {
    this.rootsProvider = provider;
  }
  onRenewal(): void {}
  listAll(): Promise<JsonObject[]> {
    return Promise.resolve([]);
  }
  logs(): readonly string[] {
    return [];
  }
  close(options: CloseOptions = {}): Promise<void> {
    this.closeOptions = options;
    this.end({ reason: 'closed', cause: 'asked' });
    return Promise.resolve();
  }
}
