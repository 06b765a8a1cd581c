import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { Catalogue, type CatalogueServer } from '@app/catalogue';
import type { JsonObject } from '@app/platform';
import { extentDocument } from '../grants/give-grant.command.js';
import { subjectKey } from '../grants/grant.js';
import type { ToolOverride } from '../overrides/tool-override.js';
import { Policy } from '../policy.js';
import type { PolicySnapshot } from '../rows/policy-snapshot.js';
import { viewDocument } from '../views/view-document.js';

export interface ExportedPolicy {
  readonly views: JsonObject;
  readonly overrides: JsonObject;
}

/** All views, grants and overrides as a document that `ImportPolicy` takes. */
export class ExportPolicy extends Query<ExportedPolicy> {}

@QueryHandler(ExportPolicy)
export class ExportPolicyHandler implements IQueryHandler<ExportPolicy> {
  constructor(
    private readonly policy: Policy,
    private readonly catalogue: Catalogue,
  ) {}

  async execute(): Promise<ExportedPolicy> {
    return exportOf(this.policy.current, this.catalogue.current.servers);
  }
}

type Servers = ReadonlyMap<string, Pick<CatalogueServer, 'name'>>;

/** In one order whatever wrote the rows, so that equal policies are equal files. */
export function exportOf(policy: PolicySnapshot, servers: Servers): ExportedPolicy {
  const overridesIn = (viewId: string | null): JsonObject =>
    sorted(
      policy.overrides
        .filter((one) => one.viewId === viewId)
        .map((one) => [overriddenName(one, servers), overrideDocument(one)]),
    );
  const views = [...policy.viewsById.values()].map((view): [string, JsonObject] => {
    const grants = [...policy.grantsOn(view.id).values()]
      .map((grant) => ({ subject: subjectKey(grant), ...extentDocument(grant) }))
      .toSorted((a, b) => (a.subject < b.subject ? -1 : 1));
    const overrides = overridesIn(view.id);
    return [
      view.slug,
      {
        ...viewDocument(view, servers),
        ...(grants.length > 0 && { grants }),
        ...(Object.keys(overrides).length > 0 && { overrides }),
      },
    ];
  });
  return { views: sorted(views), overrides: overridesIn(null) };
}

export function overriddenName({ serverId, tool }: ToolOverride, servers: Servers): string {
  return `${servers.get(serverId)?.name ?? serverId}.${tool}`;
}

/** As a person writes it: without what is not set. */
function overrideDocument(override: ToolOverride): JsonObject {
  const { name, title, description, annotations, hiddenArguments, presetArguments } = override;
  return {
    ...(name !== null && { name }),
    ...(title !== null && { title }),
    ...(description !== null && { description }),
    ...(annotations !== null && { annotations }),
    ...(hiddenArguments.length > 0 && { hidden_arguments: [...hiddenArguments] }),
    ...(Object.keys(presetArguments).length > 0 && { preset_arguments: { ...presetArguments } }),
    ...(override.budgetTokens !== null && { budget_tokens: override.budgetTokens }),
  };
}

function sorted(entries: readonly (readonly [string, JsonObject])[]): JsonObject {
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
