import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { AggregateSurface } from '../endpoints/aggregate.surface.js';
import { Offerings } from '../lists/offerings.js';

@Injectable()
export class AnnounceListsOnOfferingsChanged implements OnModuleInit, OnModuleDestroy {
  private stopHearing: (() => void) | undefined;

  constructor(
    private readonly offerings: Offerings,
    private readonly aggregate: AggregateSurface,
  ) {}

  onModuleInit(): void {
    this.stopHearing = this.offerings.watch((kind) => this.aggregate.listChanged(kind));
  }

  onModuleDestroy(): void {
    this.stopHearing?.();
  }
}
