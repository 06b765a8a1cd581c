import { Injectable } from '@nestjs/common';
import { Leadership } from '../cluster/leadership.js';

/** A command beside a running service: it never asks for the lease, also not while no replica runs. */
@Injectable()
export class Bystander extends Leadership {
  override onApplicationBootstrap(): Promise<void> {
    return Promise.resolve();
  }

  override beforeApplicationShutdown(): Promise<void> {
    return Promise.resolve();
  }
}
