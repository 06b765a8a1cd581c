import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Catalogue } from './catalogue.js';
import { DiscoverToolsHandler } from './discover-tools.command.js';
import { DiscoverToolsOnSessionOpened } from './discover-tools.on-session-opened.js';
import { LoadCatalogueOnStart } from './load-catalogue.on-start.js';
import { RefreshCatalogueOnChanges } from './refresh-catalogue.on-changes.js';
import { SessionsModule } from '@app/sessions';
import { ToolEntity } from './tool.entity.js';
import { ToolStore } from './tool.store.js';
import { ServerToolsController } from './tools.controller.js';

@Module({
  imports: [TypeOrmModule.forFeature([ToolEntity]), SessionsModule],
  controllers: [ServerToolsController],
  providers: [
    ToolStore,
    Catalogue,
    LoadCatalogueOnStart,
    RefreshCatalogueOnChanges,
    DiscoverToolsHandler,
    DiscoverToolsOnSessionOpened,
  ],
  exports: [Catalogue],
})
export class DiscoveryModule {}
