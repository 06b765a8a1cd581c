import { Module } from '@nestjs/common';
import { ClassificationModule } from '@app/classification';
import { DiscoveryModule } from '@app/discovery';
import { VectorsModule } from '@app/vectors';
import { LexicalTools } from './lexical-tools.js';
import { SearchController } from './search.controller.js';
import { SearchToolsHandler } from './search-tools.query.js';
import { ToolsController } from './tools.controller.js';

@Module({
  imports: [DiscoveryModule, ClassificationModule, VectorsModule],
  controllers: [SearchController, ToolsController],
  providers: [LexicalTools, SearchToolsHandler],
})
export class SearchModule {}
