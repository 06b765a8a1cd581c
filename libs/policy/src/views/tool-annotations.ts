import type { CatalogueTool } from '@app/catalogue';
import { isJsonObject } from '@app/platform';
import type { RuleAnnotation } from './view.js';

/** With the defaults of MCP: a tool without hints may destroy something and reaches the open world. */
export function hasAnnotation({ definition }: CatalogueTool, annotation: RuleAnnotation): boolean {
  const given = definition['annotations'];
  const hints = isJsonObject(given) ? given : {};
  const isReadOnly = hints['readOnlyHint'] === true;
  switch (annotation) {
    case 'read_only':
      return isReadOnly;
    case 'destructive':
      return !isReadOnly && hints['destructiveHint'] !== false;
    case 'idempotent':
      return isReadOnly || hints['idempotentHint'] === true;
    case 'open_world':
      return hints['openWorldHint'] !== false;
    default:
      return annotation satisfies never;
  }
}
