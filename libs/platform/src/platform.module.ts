import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Clock } from './clock.js';
import { Env } from './config/env.js';

/** What every lib may ask for: settings and time. */
@Global()
@Module({})
export class PlatformModule {
  static forRoot(env: Env): DynamicModule {
    return {
      module: PlatformModule,
      providers: [{ provide: Env, useValue: env }, Clock],
      exports: [Env, Clock],
    };
  }
}
