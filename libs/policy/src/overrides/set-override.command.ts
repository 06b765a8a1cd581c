import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Actor } from '@app/access';
import { Catalogue, type CatalogueTool } from '@app/catalogue';
import {
  Clock,
  type FieldIssue,
  InvalidInput,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  Variables,
} from '@app/platform';
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Policy } from '../policy.js';
import {
  OfferedNameTaken,
  OverriddenServerNotFound,
  PolicyLimitReached,
} from '../policy.errors.js';
import type { PolicyDraft } from '../rows/policy-draft.js';
import { placeholdersOf, USER_NAME } from './fill-arguments.js';
import { MAX_OVERRIDES, type OverriddenTool, type ToolOverride } from './tool-override.js';

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const MAX_PRESET_BYTES = 65_536;

export interface GivenOverride {
  readonly name?: string | null;
  readonly title?: string | null;
  readonly description?: string | null;
  readonly annotations?: JsonObject | null;
  readonly hidden_arguments?: readonly string[] | null;
  readonly preset_arguments?: Readonly<Record<string, JsonValue>> | null;
  readonly budget_tokens?: number | null;
}

/**
 * Offers a tool otherwise than its server defines it, in one view or everywhere. Replaces an earlier override. Of a tool
 * that is not listed yet the names of arguments cannot be checked.
 */
export class SetOverride extends Command<ToolOverride> {
  constructor(
    readonly target: OverriddenTool,
    /** Undefined for every view. */
    readonly view: string | undefined,
    readonly given: GivenOverride,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(SetOverride)
export class SetOverrideHandler implements ICommandHandler<SetOverride> {
  constructor(
    private readonly policy: Policy,
    private readonly catalogue: Catalogue,
    private readonly variables: Variables,
    private readonly clock: Clock,
  ) {}

  execute(command: SetOverride): Promise<ToolOverride> {
    return this.policy.change((draft) => this.apply(command, draft));
  }

  /** Throws before it writes. */
  async apply(
    { target, view, given, actor }: SetOverride,
    draft: PolicyDraft,
  ): Promise<ToolOverride> {
    const { toolName, basisHash } = this.checked(target, given);
    const viewId = view === undefined ? null : draft.viewNamed(view).id;
    const before = draft.overrideOf(target, viewId);
    if (!before && draft.counts.overrides >= MAX_OVERRIDES) {
      throw new PolicyLimitReached('overrides', MAX_OVERRIDES);
    }
    if (given.name != null) this.refuseTaken(given.name, target, viewId, draft);
    const override: ToolOverride = {
      id: before?.id ?? randomUUID(),
      viewId,
      serverId: target.serverId,
      tool: target.tool,
      ...fieldsOf(given),
      basisHash,
      updatedBy: actor.name,
      updatedAt: this.clock.now(),
    };
    if (before?.basisHash === basisHash && isOfferedAs(before, given)) return before;
    await draft.saveOverride(override);
    await draft.note({
      change: 'override.set',
      subject: `${toolName} in ${view ?? 'every view'}`,
      before: before ? overrideHistory(before) : null,
      after: overrideHistory(override),
      details: { tool: toolName, view: view ?? null, fields: fieldNames(given) },
      actor,
    });
    return override;
  }

  private checked(
    target: OverriddenTool,
    given: GivenOverride,
  ): { readonly toolName: string; readonly basisHash: string } {
    const { servers, toolsByServer } = this.catalogue.current;
    const server = servers.get(target.serverId);
    if (!server) throw new OverriddenServerNotFound(target.serverId);
    const tool = toolsByServer.get(server.id)?.find((one) => one.originalName === target.tool);
    const issues = [
      ...(tool ? argumentIssues(tool, given) : []),
      ...presetIssues(given, this.variables),
    ];
    if (issues.length > 0) throw new InvalidInput(issues);
    return { toolName: `${server.name}.${target.tool}`, basisHash: tool?.contentHash ?? '' };
  }

  /** The name must lead to one tool in every view that the override is for. */
  private refuseTaken(
    name: string,
    target: OverriddenTool,
    viewId: string | null,
    draft: PolicyDraft,
  ): void {
    const { toolsByName, servers } = this.catalogue.current;
    const own = toolsByName.get(name);
    if (own) throw new OfferedNameTaken(name, own.name);
    for (const one of draft.overridesNamed(name)) {
      if (one.serverId === target.serverId && one.tool === target.tool) continue;
      if (one.viewId !== null && viewId !== null && one.viewId !== viewId) continue;
      throw new OfferedNameTaken(name, `${servers.get(one.serverId)?.name ?? '?'}.${one.tool}`);
    }
  }
}

function fieldNames(given: GivenOverride): string[] {
  return Object.entries(given).flatMap(([key, value]) => (value == null ? [] : [key]));
}

type Fields = Pick<
  ToolOverride,
  | 'name'
  | 'title'
  | 'description'
  | 'annotations'
  | 'hiddenArguments'
  | 'presetArguments'
  | 'budgetTokens'
>;

/** Whether the override says what is given. */
export function isOfferedAs(override: ToolOverride, given: GivenOverride): boolean {
  const fields = fieldsOf(given);
  return isDeepStrictEqual({ ...override, ...fields }, override);
}

function fieldsOf(given: GivenOverride): Fields {
  return {
    name: given.name ?? null,
    title: given.title ?? null,
    description: given.description ?? null,
    annotations: given.annotations ?? null,
    hiddenArguments: [...(given.hidden_arguments ?? [])],
    presetArguments: given.preset_arguments ?? {},
    budgetTokens: given.budget_tokens ?? null,
  };
}

export function isFor(
  one: ToolOverride,
  { serverId, tool }: OverriddenTool,
  viewId: string | null,
): boolean {
  return one.viewId === viewId && one.serverId === serverId && one.tool === tool;
}

/** Without the values of preset arguments. */
export function overrideHistory(override: ToolOverride): JsonObject {
  const { name, title, description, annotations, hiddenArguments, presetArguments } = override;
  return {
    name,
    title,
    description,
    annotations,
    hidden_arguments: [...hiddenArguments],
    preset_arguments: Object.keys(presetArguments),
    budget_tokens: override.budgetTokens,
  };
}

function argumentIssues(tool: CatalogueTool, given: GivenOverride): FieldIssue[] {
  const { properties, required } = tool.inputSchema;
  const known = isJsonObject(properties) ? properties : {};
  const preset = given.preset_arguments ?? {};
  const issue = (field: string, name: string, msg: string): FieldIssue => ({
    loc: ['body', field, name],
    msg,
    type: 'value_error',
  });
  const hidden = given.hidden_arguments ?? [];
  const isRequired = (name: string): boolean => Array.isArray(required) && required.includes(name);
  return [
    ...[...hidden]
      .filter((name) => !Object.hasOwn(known, name))
      .map((name) => issue('hidden_arguments', name, `${tool.name} has no such argument`)),
    ...[...hidden]
      .filter((name) => isRequired(name) && !Object.hasOwn(preset, name))
      .map((name) => issue('hidden_arguments', name, 'It is required: give it a preset value')),
    ...Object.keys(preset)
      .filter(
        (name) => !Object.hasOwn(known, name) && tool.inputSchema['additionalProperties'] === false,
      )
      .map((name) => issue('preset_arguments', name, `${tool.name} has no such argument`)),
  ];
}

function presetIssues(
  { preset_arguments: preset }: GivenOverride,
  variables: Variables,
): FieldIssue[] {
  if (!preset) return [];
  const issue = (name: string, msg: string): FieldIssue => ({
    loc: ['body', 'preset_arguments', name],
    msg,
    type: 'value_error',
  });
  if (Buffer.byteLength(JSON.stringify(preset)) > MAX_PRESET_BYTES) {
    return [
      {
        loc: ['body', 'preset_arguments'],
        msg: `Must have at most ${MAX_PRESET_BYTES} bytes`,
        type: 'value_error',
      },
    ];
  }
  return Object.entries(preset).flatMap(([name, value]) =>
    placeholdersOf(value)
      .filter((variable) => variable !== USER_NAME)
      .flatMap((variable) => {
        if (!VARIABLE.test(variable) || !variables.mayReference(variable)) {
          return [
            issue(
              name,
              `\${${variable.slice(0, 100)}} cannot be used: name an environment variable that is no setting of the service, or user.name`,
            ),
          ];
        }
        if (variables.get(variable) !== undefined) return [];
        return [issue(name, `The environment variable ${variable} is not set`)];
      }),
  );
}
