import { Module } from '@nestjs/common';
import { Catalogue, DiscoveryModule } from '@app/discovery';
import { configuredLlm } from '@app/llm';
import { Env } from '@app/platform';
import { StaticModel, VectorsModule } from '@app/vectors';
import { ClassificationStore } from './classification.store.js';
import { ClassificationWorker } from './classification-worker.js';
import { Classifier } from './classifier.js';
import { ClassifyToolsJob } from './classify-tools.job.js';
import { ClassifyToolsOnToolsDiscovered } from './classify-tools.on-tools-discovered.js';
import { CreateSkillHandler } from './create-skill.command.js';
import { DropOverrideHandler } from './drop-override.command.js';
import { IndexSkillsJob } from './index-skills.job.js';
import { LlmClassifier } from './llm-classifier.js';
import { LocalClassifier } from './local-classifier.js';
import { OverrideToolSkillsHandler } from './override-tool-skills.command.js';
import { RedrawSkillsOnCatalogueChanges } from './redraw-skills.on-catalogue-changes.js';
import { ReviewSuggestionHandler } from './review-suggestion.command.js';
import { SkillHead } from './skill-head.js';
import { SkillMap } from './skill-map.js';
import { SkillStore } from './skill.store.js';
import { SkillsController } from './skills.controller.js';
import { SuggestionStore } from './suggestion.store.js';
import { SuggestionsController } from './suggestions.controller.js';
import { ToolSkillsController } from './tool-skills.controller.js';
import { UpdateSkillHandler } from './update-skill.command.js';

@Module({
  imports: [DiscoveryModule, VectorsModule],
  controllers: [SkillsController, SuggestionsController, ToolSkillsController],
  providers: [
    SkillStore,
    SuggestionStore,
    ClassificationStore,
    {
      provide: Classifier,
      inject: [Env, Catalogue, StaticModel],
      useFactory: configuredClassifier,
    },
    ClassificationWorker,
    ClassifyToolsJob,
    ClassifyToolsOnToolsDiscovered,
    SkillMap,
    IndexSkillsJob,
    RedrawSkillsOnCatalogueChanges,
    CreateSkillHandler,
    UpdateSkillHandler,
    OverrideToolSkillsHandler,
    DropOverrideHandler,
    ReviewSuggestionHandler,
  ],
  exports: [SkillMap],
})
export class ClassificationModule {}

async function configuredClassifier(
  env: Env,
  catalogue: Catalogue,
  model: StaticModel,
): Promise<Classifier> {
  const llm = await configuredLlm(env);
  return llm
    ? new LlmClassifier(llm)
    : new LocalClassifier(catalogue, model, SkillHead.load(model.id));
}
