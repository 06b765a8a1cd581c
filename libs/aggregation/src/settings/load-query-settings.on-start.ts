import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { QuerySettings } from './query-settings.js';

@Injectable()
export class LoadQuerySettingsOnStart implements OnApplicationBootstrap {
  constructor(private readonly settings: QuerySettings) {}

  onApplicationBootstrap(): Promise<void> {
    return this.settings.reload();
  }
}
