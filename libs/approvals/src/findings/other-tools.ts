import type { CatalogueSnapshot } from '@app/catalogue';

/** The names of the tools of other servers. */
export interface ToolNames {
  /** The name at its server by how it looks. */
  readonly byLook: ReadonlyMap<string, string>;
  /** Names of two or more words: single words are used in sentences. */
  readonly spoken: ReadonlySet<string>;
}

export const NO_OTHER_TOOLS: ToolNames = { byLook: new Map(), spoken: new Set() };

/** Names that this server has itself are its own business. */
export function namesOfOthers(
  { tools, toolsByServer }: Pick<CatalogueSnapshot, 'tools' | 'toolsByServer'>,
  serverId: string,
  ownNames: readonly string[],
): ToolNames {
  const own = new Set([
    ...ownNames,
    ...(toolsByServer.get(serverId) ?? []).map(({ originalName }) => originalName),
  ]);
  const byLook = new Map<string, string>();
  const spoken = new Set<string>();
  for (const tool of tools) {
    if (!tool.isExternal || tool.serverId === serverId || own.has(tool.originalName)) continue;
    byLook.set(lookOf(tool.originalName), tool.originalName);
    const words = tool.originalName.toLowerCase();
    if (/[a-z][_-][a-z]|[a-z][A-Z]/.test(tool.originalName) && words.length > 6) spoken.add(words);
    spoken.add(tool.name.toLowerCase());
  }
  return { byLook, spoken };
}

/** Another server's tool whose name looks the same and is not. */
export function lookAlikeOf(name: string, others: ToolNames): string | undefined {
  const twin = others.byLook.get(lookOf(name));
  return twin === undefined || separated(twin) === separated(name) ? undefined : twin;
}

/** Another server's tool that the text names. */
export function mentionedTool(spoken: string, others: ToolNames): string | undefined {
  if (others.spoken.size === 0) return undefined;
  return spoken
    .match(/[a-z0-9]+(?:[._-]+[a-z0-9]+)+|[a-z0-9]{7,}/g)
    ?.find((word) => others.spoken.has(word));
}

const LETTERS: Readonly<Record<string, string>> = {
  а: 'a',
  е: 'e',
  о: 'o',
  р: 'p',
  с: 'c',
  у: 'y',
  х: 'x',
  і: 'i',
  ѕ: 's',
  ј: 'j',
  һ: 'h',
  ԁ: 'd',
  ո: 'n',
  ɡ: 'g',
  ı: 'i',
  α: 'a',
  ε: 'e',
  ο: 'o',
  ρ: 'p',
  ν: 'v',
  τ: 't',
  υ: 'u',
  κ: 'k',
  ι: 'i',
  '0': 'o',
  '1': 'l',
  '3': 'e',
  '5': 's',
  '|': 'l',
  i: 'l',
};

/** The name as a person sees it: characters that look alike become one. */
function lookOf(name: string): string {
  const letters = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w');
  return Array.from(letters)
    .map((letter) => LETTERS[letter] ?? letter)
    .join('')
    .replace(/[^\p{L}\p{N}]/gu, '');
}

/** `getUser`, `get_user` and `get-user` are conventions and no imitation. */
function separated(name: string): string {
  return name.toLowerCase().replace(/[_\s.-]/g, '');
}
