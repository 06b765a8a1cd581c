import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { McpSurfaces } from '../endpoints/mcp-surfaces.js';
import { Offerings } from '../lists/offerings.js';

@Injectable()
export class AnnounceListsOnOfferingsChanged implements OnModuleInit, OnModuleDestroy {
  private stopHearing: (() => void) | undefined;

  constructor(
    private readonly offerings: Offerings,
    private readonly surfaces: McpSurfaces,
  ) {}

  onModuleInit(): void {
    this.stopHearing = this.offerings.watch((kind) => this.surfaces.listChanged(kind));
  }

  onModuleDestroy(): void {
    this.stopHearing?.();
  }
}
