import { Catalogue, type CatalogueTool } from '@app/discovery';
import { splitIdentifiers, type StaticModel } from '@app/vectors';
import { Classifier, LOCAL, type ToolToClassify, type Verdict } from './classifier.js';
import type { SkillHead } from './skill-head.js';
import type { Skill } from './skill.js';
import { SkillScorer } from './skill-scorer.js';

/** So many tools of a server say what it is about; of 20,000 every batch would read all. */
const MAX_PEERS = 1_000;

/** By the embedding model in this process: always there, asks nobody (RULINGS R27). */
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

  classify(tools: readonly ToolToClassify[], skills: readonly Skill[]): Promise<Verdict[]> {
    const scorer = new SkillScorer(skills, this.model, this.head);
    const asked = new Map(tools.map((tool) => [tool.id, tool]));
    const servers = new Map(tools.map(({ server }) => [server.id, server]));
    // All tools of a server say what it is about, not only those that are asked about.
    const toolsOf = new Map([...servers.keys()].map((id) => [id, [] as CatalogueTool[]]));
    for (const tool of this.catalogue.current.tools) toolsOf.get(tool.serverId)?.push(tool);
    const verdicts = [...servers.values()].flatMap((server) => {
      const all = toolsOf.get(server.id) ?? [];
      const own = all.filter((tool) => asked.has(tool.id));
      const nth = Math.ceil(all.length / MAX_PEERS);
      const vectors = scorer.inContext(
        `${server.name}. ${server.description ?? ''}`,
        own.map(textOf),
        all.filter((_, i) => i % nth === 0).map(textOf),
      );
      return own.flatMap(({ id }, i) => {
        const vector = vectors[i];
        return vector ? [{ toolId: id, assignments: scorer.score(vector) }] : [];
      });
    });
    return Promise.resolve(verdicts);
  }
}

function textOf(tool: CatalogueTool): string {
  return `${splitIdentifiers(tool.originalName)}. ${tool.description}`;
}
