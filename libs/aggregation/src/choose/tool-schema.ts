import type { CatalogueTool } from '@app/catalogue';
import { isJsonObject, type JsonObject } from '@app/platform';

export function isDestructive(tool: CatalogueTool): boolean {
  return annotationsOf(tool)['destructiveHint'] === true;
}

export function isReadOnly(tool: CatalogueTool): boolean {
  return annotationsOf(tool)['readOnlyHint'] === true;
}

function annotationsOf(tool: CatalogueTool): JsonObject {
  const annotations = tool.definition['annotations'];
  return isJsonObject(annotations) ? annotations : {};
}

export function propertiesOf({ inputSchema }: CatalogueTool): JsonObject {
  return isJsonObject(inputSchema['properties']) ? inputSchema['properties'] : {};
}

export function requiredOf({ inputSchema }: CatalogueTool): string[] {
  const required = inputSchema['required'];
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}
