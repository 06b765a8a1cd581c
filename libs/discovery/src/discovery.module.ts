import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Catalogue } from './catalogue.js';
import { LoadCatalogueOnStart } from './load-catalogue.on-start.js';
import { RefreshCatalogueOnChanges } from './refresh-catalogue.on-changes.js';
import { ToolEntity } from './tool.entity.js';
import { ToolStore } from './tool.store.js';
import { ServerToolsController } from './tools.controller.js';

@Module({
  imports: [TypeOrmModule.forFeature([ToolEntity])],
  controllers: [ServerToolsController],
  providers: [ToolStore, Catalogue, LoadCatalogueOnStart, RefreshCatalogueOnChanges],
  exports: [Catalogue],
})
export class DiscoveryModule {}
