import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { PublishOwnTools } from '@app/discovery';
import { queryToolListing } from './query-contract.js';

/** Adds the query tool to the catalogue, so that a search finds it. */
@Injectable()
export class PublishQueryToolOnStart implements OnApplicationBootstrap {
  constructor(private readonly commands: CommandBus) {}

  onApplicationBootstrap(): Promise<void> {
    return this.commands.execute(new PublishOwnTools([queryToolListing]));
  }
}
