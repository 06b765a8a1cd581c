import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Policy } from './policy.js';

@Injectable()
export class LoadPolicyOnStart implements OnApplicationBootstrap {
  constructor(private readonly policy: Policy) {}

  onApplicationBootstrap(): Promise<void> {
    return this.policy.reload();
  }
}
