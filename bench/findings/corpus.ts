import type { Surroundings } from '../../libs/approvals/src/findings/findings.js';
import { comparedTools, decideTools } from '../../libs/approvals/src/decide/decide-tools.js';
import { namesOfOthers } from '../../libs/approvals/src/findings/other-tools.js';
import { readTools } from '../../libs/discovery/src/tool.js';
import { atOnce, isJsonObject, type JsonObject } from '@app/platform';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { catalogueOf } from '../../test/support/catalogue.js';

const FOLDER = join(process.cwd(), 'bench/findings');
/** Every 37th tool of the real ones, so that attacks change tools of all servers. */
const STRIDE = 37;

const tool = z.looseObject({ name: z.string() });
const realSchema = z.array(
  z.object({
    package: z.string(),
    from: z.string(),
    to: z.string(),
    before: tool.nullable(),
    after: tool,
  }),
);
const poisonedSchema = z.array(
  z.object({
    attack: z.string(),
    source: z.string(),
    change: z.object({
      name: z.string().optional(),
      title: z.string().optional(),
      description: z.string().optional(),
      annotations: z.record(z.string(), z.boolean()).optional(),
      argument: z
        .looseObject({ name: z.string(), description: z.string(), required: z.boolean() })
        .optional(),
    }),
  }),
);
type Poison = z.infer<typeof poisonedSchema>[number];

/** A change of one tool; without `before` the tool is new on a server that is known. */
export interface CorpusChange {
  readonly kind: string;
  readonly before: JsonObject | undefined;
  readonly after: JsonObject;
}

/** Differences between two versions of servers from npm. */
export async function realChanges(): Promise<CorpusChange[]> {
  return (await readReal()).map((one) => ({
    kind: one.package,
    before: one.before ? objectOf(one.before) : undefined,
    after: objectOf(one.after),
  }));
}

/** Tools of servers from npm, changed as published attacks change them. */
export async function poisonedChanges(): Promise<CorpusChange[]> {
  const bases = (await readReal()).map(({ after }) => objectOf(after));
  const read = await readFile(join(FOLDER, 'poisoned.json'), 'utf8');
  return poisonedSchema.parse(JSON.parse(read)).map((poison, i) => {
    const base = bases[(i * STRIDE) % bases.length] ?? {};
    const before = { ...base, annotations: { readOnlyHint: true, destructiveHint: false } };
    const isNew = poison.change.name !== undefined;
    return {
      kind: poison.attack,
      before: isNew ? undefined : before,
      after: poisonedTool(before, poison),
    };
  });
}

/** Whether the change is withheld from a server that is trusted by default, and what was found in it. */
export function judge({ before, after }: CorpusChange): {
  readonly isWithheld: boolean;
  readonly findings: readonly string[];
} {
  const other = { name: 'never_changed', inputSchema: { type: 'object' } };
  const first = atOnce(readTools(before ? [other, before] : [other])).tools;
  const stored = first.map((one, i) => ({ ...one, id: i + 1, withheld: null }));
  const listed = atOnce(readTools([other, after])).tools;
  const compared = comparedTools(stored, listed);
  const definitions = new Map(
    stored.filter(({ id }) => compared.includes(id)).map((one) => [one.id, one.definition]),
  );
  const input = { trust: 'auto', listed, stored, definitions, known: [] } as const;
  const { newlyWithheld, published } = atOnce(decideTools(input, SURROUNDINGS));
  const codes = [...newlyWithheld, ...published].flatMap(({ findings }) =>
    findings.map(({ code }) => code),
  );
  return { isWithheld: newlyWithheld.length > 0, findings: [...new Set(codes)] };
}

const SURROUNDINGS: Surroundings = {
  others: namesOfOthers(
    catalogueOf([{ name: 'office', tools: ['read_file', 'send_email'] }]),
    'another server',
    [],
  ),
};

async function readReal(): Promise<z.infer<typeof realSchema>> {
  return realSchema.parse(JSON.parse(await readFile(join(FOLDER, 'real.json'), 'utf8')));
}

function poisonedTool(base: JsonObject, { change }: Poison): JsonObject {
  const { name, title, description, annotations, argument } = change;
  return {
    ...base,
    ...(name !== undefined && { name }),
    ...(title !== undefined && { title: `${text(base['title'])}${title}` }),
    ...(description !== undefined && {
      description: `${text(base['description'])}\n\n${description}`,
    }),
    ...(annotations && { annotations }),
    ...(argument && { inputSchema: withArgument(base['inputSchema'], argument) }),
  };
}

function withArgument(
  schema: unknown,
  argument: NonNullable<Poison['change']['argument']>,
): JsonObject {
  const { name, required, ...property } = argument;
  const before = objectOf(schema);
  const names = Array.isArray(before['required']) ? before['required'] : [];
  return {
    ...before,
    properties: {
      ...objectOf(before['properties']),
      [name]: objectOf({ type: 'string', ...property }),
    },
    ...(required && { required: [...names, name] }),
  };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function objectOf(value: unknown): JsonObject {
  const copy: unknown = JSON.parse(JSON.stringify(value ?? {}));
  return isJsonObject(copy) ? copy : {};
}
