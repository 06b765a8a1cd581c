import { Catalogue, type CatalogueTool } from '@app/catalogue';
import { inSlices, type Sliced } from '@app/platform';
import { splitIdentifiers, type StaticModel } from '@app/vectors';
import { Classifier, LOCAL, type ToolToClassify, type Classification } from './classifier.js';
import type { SkillHead } from '../skills/skill-head.js';
import type { Skill } from '../skills/skill.js';
import { SkillScorer } from './skill-scorer.js';

/**
 * Sample size: the tools of a server that describe its topic. Without it, every batch would read all of 20,000
 * tools.
 */
const MAX_PEERS = 1_000;

/** Classifies with the embedding model in this process: always available, no network (contract R27). */
export class LocalClassifier extends Classifier {
  readonly name: string;
  /** The embedded database blocks the event loop while it writes a batch. */
  readonly batchSize = 500;
  readonly concurrency = 1;
  /** Of the skills of the last batch, which seldom change. */
  private scorer: { readonly of: string; readonly scorer: SkillScorer } | undefined;

  constructor(
    private readonly catalogue: Catalogue,
    private readonly model: StaticModel,
    private readonly head: SkillHead,
  ) {
    super();
    this.name = `${LOCAL}${model.id}`;
  }

  classify(tools: readonly ToolToClassify[], skills: readonly Skill[]): Promise<Classification[]> {
    return inSlices(this.classifying(tools, skills));
  }

  private *classifying(
    tools: readonly ToolToClassify[],
    skills: readonly Skill[],
  ): Sliced<Classification[]> {
    const scorer = this.scorerOf(skills);
    const asked = new Set(tools.map(({ id }) => id));
    const servers = new Map(tools.map(({ server }) => [server.id, server]));
    const { toolsByServer } = this.catalogue.current;
    const verdicts: Classification[] = [];
    for (const server of servers.values()) {
      yield;
      // All tools of a server describe its topic, not only those in this batch.
      const all = toolsByServer.get(server.id) ?? [];
      const own = all.filter((tool) => asked.has(tool.id));
      const nth = Math.ceil(all.length / MAX_PEERS);
      const scores = yield* scorer.scoring(
        `${server.name}. ${server.description ?? ''}`,
        own.map(textOf),
        all.filter((_, i) => i % nth === 0).map(textOf),
      );
      own.forEach(({ id }, i) => {
        const assignments = scores[i];
        if (assignments) verdicts.push({ toolId: id, assignments });
      });
    }
    return verdicts;
  }

  private scorerOf(skills: readonly Skill[]): SkillScorer {
    const of = JSON.stringify(skills);
    if (this.scorer?.of !== of) {
      this.scorer = { of, scorer: new SkillScorer(skills, this.model, this.head) };
    }
    return this.scorer.scorer;
  }
}

function textOf(tool: CatalogueTool): string {
  return `${splitIdentifiers(tool.originalName)}. ${tool.description}`;
}
