import { Injectable } from '@nestjs/common';
import { AppError } from '../errors/app-error.js';

/** Retry-After in seconds during shutdown: until another replica or the next start answers. */
export const RETRY_AFTER_S = 5;

export class ServiceStopping extends AppError {
  constructor(retryAfterSeconds: number) {
    super('The service is stopping; nothing was executed. Send the request again in a moment', {
      kind: 'unavailable',
      code: 'SERVICE_UNAVAILABLE',
      retryAfterSeconds,
    });
  }
}

/**
 * Whether the service is shutting down. First it only says so, and serves on while load balancers notice; then running
 * requests finish, and new ones are refused.
 */
@Injectable()
export class Drain {
  private stopping = false;
  private draining = false;
  private count: () => number = () => 0;

  /** Not ready, and every response is the last one on its connection. */
  get isStopping(): boolean {
    return this.stopping;
  }

  get isDraining(): boolean {
    return this.draining;
  }

  /** HTTP requests without a complete response, streams included. */
  get outstanding(): number {
    return this.count();
  }

  /** Set by the HTTP server. */
  countWith(count: () => number): void {
    this.count = count;
  }

  announce(): void {
    this.stopping = true;
  }

  begin(): void {
    this.stopping = true;
    this.draining = true;
  }
}
