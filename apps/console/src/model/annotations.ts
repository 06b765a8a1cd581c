import {
  Globe,
  House,
  type LucideIcon,
  Pencil,
  Plus,
  Repeat,
  ShieldCheck,
  Trash2,
} from 'lucide-react';
import { texts } from '../texts/index.js';
import type { Tint } from '../ui/badge.js';

export interface Effect {
  readonly word: string;
  readonly icon: LucideIcon;
  readonly tint: Tint;
}

/** What the annotations of a tool say in words; what they leave out is not said, although MCP has defaults. */
export function effectsOf(annotations: Readonly<Record<string, unknown>>): Effect[] {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  const effects: (Effect | false)[] = [
    readOnlyHint === true && { word: texts.tool.readOnly, icon: ShieldCheck, tint: 'ok' },
    readOnlyHint === false &&
      destructiveHint === undefined && { word: texts.tool.changes, icon: Pencil, tint: 'warn' },
    readOnlyHint !== true &&
      destructiveHint === true && { word: texts.tool.destroys, icon: Trash2, tint: 'bad' },
    readOnlyHint !== true &&
      destructiveHint === false && { word: texts.tool.destroysNot, icon: Plus, tint: 'idle' },
    readOnlyHint !== true &&
      idempotentHint === true && { word: texts.tool.idempotent, icon: Repeat, tint: 'idle' },
    openWorldHint === true && { word: texts.tool.openWorld, icon: Globe, tint: 'idle' },
    openWorldHint === false && { word: texts.tool.closedWorld, icon: House, tint: 'idle' },
  ];
  return effects.filter((effect) => effect !== false);
}

export function mayDestroy({
  readOnlyHint,
  destructiveHint,
}: Readonly<Record<string, unknown>>): boolean {
  return readOnlyHint !== true && destructiveHint === true;
}
