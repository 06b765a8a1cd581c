import type { JsonObject, JsonValue } from '@app/platform';

/** No dot and no `__`: such a name cannot be that of a tool of a server. */
export const OFFERED_NAME = /^(?!.*__)[A-Za-z0-9_-]{1,64}$/;
export const MAX_OVERRIDES = 10_000;

/** How a tool is offered instead of how its server defines it. */
export interface ToolOverride {
  readonly id: string;
  /** Null for every view. Of two overrides, the members of the one for the view win. */
  readonly viewId: string | null;
  readonly serverId: string;
  /** Its name at the server, so that the override outlives the row of a tool that is not listed for a while. */
  readonly tool: string;
  readonly name: string | null;
  readonly title: string | null;
  readonly description: string | null;
  readonly annotations: JsonObject | null;
  /** Removed from the schema; refused in a call. */
  readonly hiddenArguments: readonly string[];
  /** Sent unless the client gives another value; texts may hold `${NAME}` and `${user.name}`. */
  readonly presetArguments: Readonly<Record<string, JsonValue>>;
  readonly budgetTokens: number | null;
  /** The hash of the definition that it was written for; empty if its server had not listed the tool yet. */
  readonly basisHash: string;
  readonly updatedBy: string;
  readonly updatedAt: Date;
}

/** A tool by the name that it has at its server, which need not have listed it yet. */
export type OverriddenTool = Pick<ToolOverride, 'serverId' | 'tool'>;

/** By the id of the server, then by the name of the tool there. */
export type OverridesByTool = ReadonlyMap<string, ReadonlyMap<string, ToolOverride>>;
