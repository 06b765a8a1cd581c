import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * `<set>.queries*.jsonl` with the tools of the longest `<name>.tools.jsonl` that the set's name starts with.
 */
export function readSets(folder) {
  if (!existsSync(folder)) {
    throw new Error(`There is no folder ${folder}: give the evaluation data with --eval-dir`);
  }
  const files = readdirSync(folder);
  const toolFiles = files.filter((file) => file.endsWith('.tools.jsonl'));
  return files
    .filter((file) => /\.queries.*\.jsonl$/.test(file))
    .map((file) => {
      const name = file.slice(0, file.indexOf('.queries'));
      const toolFile = toolFiles
        .filter((candidate) => name.startsWith(candidate.replace('.tools.jsonl', '')))
        .sort((a, b) => b.length - a.length)[0];
      if (!toolFile) throw new Error(`${file} has no *.tools.jsonl beside it`);
      const all = readLines(join(folder, file));
      return {
        name,
        corpus: toolFile.replace('.tools.jsonl', ''),
        queries: all.filter((query) => query.relevant.length > 0),
        /** That no tool serves. */
        unserved: all.filter((query) => query.relevant.length === 0),
      };
    });
}

export function readTools(folder, corpus) {
  return readLines(join(folder, `${corpus}.tools.jsonl`));
}

export function readLines(file) {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** The tools of all sets, repeated under other server names up to this number. */
export function corpusOf(folder, size) {
  const corpora = [...new Set(readSets(folder).map(({ corpus }) => corpus))];
  return repeated(
    corpora.flatMap((corpus) => readTools(folder, corpus)),
    size,
  );
}

export function repeated(tools, size) {
  return Array.from({ length: size }, (_, i) => {
    const tool = tools[i % tools.length];
    const copy = Math.floor(i / tools.length);
    const server = copy === 0 ? tool.server : `${tool.server}-${copy}`;
    return { ...tool, server, id: `${server}.${tool.name}.${i}` };
  });
}

/** So many queries, evenly out of all sets. */
export function queriesOf(folder, count) {
  const all = readSets(folder).flatMap(({ queries }) => queries);
  return sample(all, count).map(({ text }) => text.slice(0, 2_000));
}

export function sample(items, count) {
  const step = Math.max(1, Math.floor(items.length / count));
  return items.filter((_, i) => i % step === 0).slice(0, count);
}
