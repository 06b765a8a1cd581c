import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { VectorsModule } from '@app/vectors';
import { Catalogue } from './catalogue.js';
import { IndexToolsOnCatalogueChanges } from './index-tools.on-catalogue-changes.js';
import { LoadCatalogueOnStart } from './load-catalogue.on-start.js';
import { RefreshCatalogueOnChanges } from './refresh-catalogue.on-changes.js';
import { ToolEntity } from './tool.entity.js';
import { ToolStore } from './tool.store.js';
import { ServerToolsController } from './tools.controller.js';

@Module({
  imports: [TypeOrmModule.forFeature([ToolEntity]), VectorsModule],
  controllers: [ServerToolsController],
  providers: [
    ToolStore,
    Catalogue,
    LoadCatalogueOnStart,
    IndexToolsOnCatalogueChanges,
    RefreshCatalogueOnChanges,
  ],
  exports: [Catalogue],
})
export class DiscoveryModule {}
