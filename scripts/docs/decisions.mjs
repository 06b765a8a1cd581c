import { basename } from 'node:path';
import { linksIn } from './markdown.mjs';
import { markdownOf, targetOf } from './links.mjs';

const FOLDER = 'docs/decisions/';
const INDEX = `${FOLDER}README.md`;

/** Every decision has a unique number and a title in one style, and is in the index. */
export function decisionProblems(files) {
  const records = [...files.keys()].filter(
    (path) => path.startsWith(FOLDER) && path.endsWith('.md') && path !== INDEX,
  );
  if (records.length === 0) return [];
  const listed = linksIn(files.get(INDEX) ?? '').map(({ target }) => targetOf(target, INDEX));
  const numbers = records.map(numberOf);
  return [
    ...records
      .filter((path) => !listed.includes(path))
      .map((path) => `${INDEX} does not list ${basename(path)}`),
    ...records.flatMap((path) => {
      const [title = ''] = (files.get(path) ?? '').split('\n');
      return /^# (\d{4})\. \S/.exec(title)?.[1] === numberOf(path)
        ? []
        : [`${path}:1 must begin with "# ${numberOf(path)}. " and a title`];
    }),
    ...records
      .filter((path, index) => numbers.indexOf(numberOf(path)) < index)
      .map((path) => `${path} has the number of another decision`),
    ...referenceProblems(files, new Set(numbers)),
  ];
}

/** `docs/decisions/NNNN` in code, and `[NNNN](…)` in Markdown, refer to existing decisions. */
function referenceProblems(files, numbers) {
  const inText = [...files].flatMap(([path, text]) =>
    (text ?? '')
      .split('\n')
      .flatMap((line, index) =>
        [...line.matchAll(/docs\/decisions\/(\d{4})/g)]
          .filter(([, number]) => !numbers.has(number))
          .map(([name]) => `${path}:${index + 1} cites ${name}, which is not there`),
      ),
  );
  const inLinks = markdownOf(files).flatMap(([path, text]) =>
    linksIn(text)
      .filter(({ text: label }) => /^\d{3,4}$/.test(label))
      .filter(({ text: label, target }) => numberOf(targetOf(target, path)) !== label)
      .map(({ text: label, target, line }) => `${path}:${line} [${label}] links to ${target}`),
  );
  return [...inText, ...inLinks];
}

function numberOf(path) {
  return basename(path).slice(0, 4);
}
