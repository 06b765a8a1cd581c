import type {
  CloseOptions,
  NotificationHandler,
  ServerRequestHandler,
  SessionEnd,
  UpstreamSession,
} from '@app/mcp';
import { type JsonObject, WrittenObject } from '@app/platform';

/** An open session that does what its test says. */
export class FakeSession implements UpstreamSession {
  readonly era = 'legacy';
  readonly protocolVersion = '2025-11-25';
  readonly serverInfo: JsonObject = { name: 'fake' };
  readonly capabilities: JsonObject = { tools: {} };
  readonly closed: Promise<SessionEnd>;
  pending = 0;
  closeOptions: CloseOptions | undefined;
  end!: (end: SessionEnd) => void;
  private readonly handlers = new Set<NotificationHandler>();
  requestHandler: ServerRequestHandler | undefined;

  constructor() {
    this.closed = new Promise((resolve) => {
      this.end = resolve;
    });
  }

  lose(reason = 'it went away'): void {
    this.end({ reason, cause: 'lost' });
  }

  say(method: string): void {
    for (const handler of this.handlers) handler(method, {});
  }

  request(): Promise<JsonObject> {
    return Promise.resolve({});
  }
  relay(): Promise<WrittenObject> {
    return Promise.resolve(WrittenObject.of({}));
  }
  notify(): Promise<void> {
    return Promise.resolve();
  }
  onNotification(handler: NotificationHandler): () => void {
    this.handlers.add(handler);
    return () => this.handlers.delete(handler);
  }
  setRequestHandler(handler: ServerRequestHandler): void {
    this.requestHandler = handler;
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
