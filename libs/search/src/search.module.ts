import { Module } from '@nestjs/common';
import { ClassificationModule } from '@app/classification';
import { ActivityModule } from '@app/activity';
import { CatalogueModule } from '@app/catalogue';
import { LearningModule } from '@app/learning';
import { PolicyModule } from '@app/policy';
import { VectorsModule } from '@app/vectors';
import { IndexWordsOnCatalogueReplaced } from './words/index-words.on-catalogue-replaced.js';
import { NoGoodMatches } from './fit/no-good-match.js';
import { ToolFits } from './fit/tool-fits.js';
import { QueryReader } from './query/query-reader.js';
import { SearchExplainer } from './explain/explain-search.js';
import { LeftOutTools } from './explain/left-out.js';
import { LexicalTools } from './words/lexical-tools.js';
import { SearchController } from './search.controller.js';
import { SearchToolsHandler } from './search-tools.query.js';
import { ShownTexts } from './shown/shown-texts.js';
import { ToolListController } from './list/tool-list.controller.js';

@Module({
  imports: [
    ActivityModule,
    CatalogueModule,
    PolicyModule,
    ClassificationModule,
    LearningModule,
    VectorsModule,
  ],
  controllers: [SearchController, ToolListController],
  providers: [
    LexicalTools,
    IndexWordsOnCatalogueReplaced,
    LeftOutTools,
    NoGoodMatches,
    QueryReader,
    SearchExplainer,
    SearchToolsHandler,
    ShownTexts,
    ToolFits,
  ],
})
export class SearchModule {}
