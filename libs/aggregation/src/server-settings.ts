import type { JsonObject } from '@app/platform';

/** How one server takes part in aggregated queries. */
export interface ServerSettings {
  /** False: never asked. */
  readonly enabled: boolean;
  /** The tool to ask, by its original name; null: the one that fits each question best. */
  readonly tool: string | null;
  /** The parameter of that tool which takes the question; null: found in its schema. */
  readonly argument: string | null;
  /** What that tool is given besides. */
  readonly arguments: JsonObject;
  /** A passage of weight 2 counts twice one of weight 1. */
  readonly weight: number;
}

export const DEFAULT_SETTINGS: ServerSettings = {
  enabled: true,
  tool: null,
  argument: null,
  arguments: {},
  weight: 1,
};
