import type { CatalogueTool } from '@app/catalogue';
import { changed, isJsonObject, type JsonObject, type JsonValue } from '@app/platform';
import { createHash } from 'node:crypto';
import type { ToolOverride } from './tool-override.js';

/** The tool as a view offers it. Returns the same object for the same two, because lists are compared by identity. */
export function applyOverride(tool: CatalogueTool, override: ToolOverride): CatalogueTool {
  let known = offered.get(override);
  if (!known) offered.set(override, (known = new WeakMap()));
  let made = known.get(tool);
  if (!made) known.set(tool, (made = withOverride(tool, override)));
  return made;
}
const offered = new WeakMap<ToolOverride, WeakMap<CatalogueTool, CatalogueTool>>();

function withOverride(tool: CatalogueTool, override: ToolOverride): CatalogueTool {
  const { name, title, description, annotations, hiddenArguments, presetArguments } = override;
  const inputSchema = schemaWithout(
    tool.inputSchema,
    new Set(hiddenArguments),
    new Set(Object.keys(presetArguments)),
  );
  const definition = changed(tool.definition, {
    inputSchema,
    ...(title !== null && { title }),
    ...(description !== null && { description }),
    ...(annotations !== null && { annotations: annotationsOf(tool, annotations, title) }),
  });
  return {
    ...tool,
    name: name ?? tool.name,
    title: title ?? tool.title,
    description: description ?? tool.description,
    inputSchema,
    definition,
    contentHash: hashOf(tool, override),
    offeredAs: {
      name: name ?? undefined,
      hiddenArguments,
      presetArguments,
      budgetTokens: override.budgetTokens,
    },
  };
}

/** `annotations.title` is a second place for the title, which clients may show instead. */
function annotationsOf(
  { definition }: CatalogueTool,
  annotations: JsonObject,
  title: string | null,
): JsonObject {
  const before = isJsonObject(definition['annotations']) ? definition['annotations'] : {};
  const isTitled = title !== null && before['title'] !== undefined;
  return changed(before, { ...annotations, ...(isTitled && { title }) });
}

/** Arguments that are sent in any case are hidden or not required. */
function schemaWithout(
  schema: JsonObject,
  hidden: ReadonlySet<string>,
  preset: ReadonlySet<string>,
): JsonObject {
  if (hidden.size === 0 && preset.size === 0) return schema;
  const { properties, required } = schema;
  const changes: Record<string, JsonValue | undefined> = {};
  if (isJsonObject(properties)) {
    changes['properties'] = changed(
      properties,
      Object.fromEntries([...hidden].map((name) => [name, undefined])),
    );
  }
  if (Array.isArray(required)) {
    const left = required.filter(
      (name) => typeof name !== 'string' || !(hidden.has(name) || preset.has(name)),
    );
    // An empty list was forbidden before draft 6 of JSON Schema.
    changes['required'] = left.length > 0 ? left : undefined;
  }
  return changed(schema, changes);
}

/** Clients are told of a change when it differs; preset values are not part of what they see. */
function hashOf({ contentHash }: CatalogueTool, override: ToolOverride): string {
  const { name, title, description, annotations, hiddenArguments, presetArguments } = override;
  const visible = [name, title, description, annotations, hiddenArguments];
  return createHash('sha256')
    .update(JSON.stringify([contentHash, ...visible, Object.keys(presetArguments)]))
    .digest('hex');
}
