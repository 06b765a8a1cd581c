import { Module } from '@nestjs/common';
import { Catalogue, CatalogueModule } from '@app/catalogue';
import { configuredLlm } from '@app/llm';
import { Env } from '@app/platform';
import { StaticModel, VectorsModule } from '@app/vectors';
import { AssignmentStore } from './classify/assignment.store.js';
import { ClassificationQueue } from './classify/classification-queue.store.js';
import { ClassificationWorker } from './classify/classification-worker.js';
import { Classifier } from './classify/classifier.js';
import { ClassifyToolsJob } from './classify/classify-tools.job.js';
import { ClassifyToolsOnCatalogueReplaced } from './classify/classify-tools.on-catalogue-replaced.js';
import { ClassifyToolsOnSkillsChanged } from './classify/classify-tools.on-skills-changed.js';
import { CreateSkillHandler } from './skills/create-skill.command.js';
import { DropOverrideHandler } from './overrides/drop-override.command.js';
import { IndexSkillsJob } from './skills/index-skills.job.js';
import { LlmClassifier } from './classify/llm-classifier.js';
import { LocalClassifier } from './classify/local-classifier.js';
import { OverrideStore } from './overrides/override.store.js';
import { OverrideToolSkillsHandler } from './overrides/override-tool-skills.command.js';
import { RedrawSkillsOnCatalogueReplaced } from './map/redraw-skills.on-catalogue-replaced.js';
import { ReviewSuggestionHandler } from './skills/review-suggestion.command.js';
import { SkillHead } from './skills/skill-head.js';
import { SkillMap } from './map/skill-map.js';
import { SkillStore } from './skills/skill.store.js';
import { SkillsController } from './skills/skills.controller.js';
import { SuggestionStore } from './skills/suggestion.store.js';
import { SuggestionsController } from './skills/suggestions.controller.js';
import { ToolSkillsController } from './overrides/tool-skills.controller.js';
import { UpdateSkillHandler } from './skills/update-skill.command.js';

@Module({
  imports: [CatalogueModule, VectorsModule],
  controllers: [SkillsController, SuggestionsController, ToolSkillsController],
  providers: [
    SkillStore,
    SuggestionStore,
    AssignmentStore,
    ClassificationQueue,
    OverrideStore,
    {
      provide: Classifier,
      inject: [Env, Catalogue, StaticModel],
      useFactory: configuredClassifier,
    },
    ClassificationWorker,
    ClassifyToolsJob,
    ClassifyToolsOnCatalogueReplaced,
    ClassifyToolsOnSkillsChanged,
    SkillMap,
    IndexSkillsJob,
    RedrawSkillsOnCatalogueReplaced,
    CreateSkillHandler,
    UpdateSkillHandler,
    OverrideToolSkillsHandler,
    DropOverrideHandler,
    ReviewSuggestionHandler,
  ],
  exports: [SkillMap],
})
export class ClassificationModule {}

function configuredClassifier(env: Env, catalogue: Catalogue, model: StaticModel): Classifier {
  const llm = configuredLlm(env);
  return llm
    ? new LlmClassifier(llm)
    : new LocalClassifier(catalogue, model, SkillHead.load(model.id));
}
