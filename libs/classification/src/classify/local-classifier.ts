import { Catalogue, type CatalogueTool } from '@app/catalogue';
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
  readonly batchSize = 1_000;
  readonly concurrency = 1;

  constructor(
    private readonly catalogue: Catalogue,
    private readonly model: StaticModel,
    private readonly head: SkillHead,
  ) {
    super();
    this.name = `${LOCAL}${model.id}`;
  }

  classify(tools: readonly ToolToClassify[], skills: readonly Skill[]): Promise<Classification[]> {
    const scorer = new SkillScorer(skills, this.model, this.head);
    const asked = new Map(tools.map((tool) => [tool.id, tool]));
    const servers = new Map(tools.map(({ server }) => [server.id, server]));
    // All tools of a server describe its topic, not only those in this batch.
    const toolsOf = new Map([...servers.keys()].map((id) => [id, [] as CatalogueTool[]]));
    for (const tool of this.catalogue.current.tools) toolsOf.get(tool.serverId)?.push(tool);
    const verdicts = [...servers.values()].flatMap((server) => {
      const all = toolsOf.get(server.id) ?? [];
      const own = all.filter((tool) => asked.has(tool.id));
      const nth = Math.ceil(all.length / MAX_PEERS);
      const scores = scorer.scoreTools(
        `${server.name}. ${server.description ?? ''}`,
        own.map(textOf),
        all.filter((_, i) => i % nth === 0).map(textOf),
      );
      return own.flatMap(({ id }, i) => {
        const assignments = scores[i];
        return assignments ? [{ toolId: id, assignments }] : [];
      });
    });
    return Promise.resolve(verdicts);
  }
}

function textOf(tool: CatalogueTool): string {
  return `${splitIdentifiers(tool.originalName)}. ${tool.description}`;
}
