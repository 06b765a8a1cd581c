import { targetOf } from './links.mjs';
import { headingsIn, linksIn } from './markdown.mjs';

export const CONTRACT = 'docs/contract.md';

const CITATION = /\b(?:(?:BR|EC|FR|NFR|US)-\d+|[RT]\d{1,2})\b/g;
/** Documents that were never part of the repository; `../shared/eval` is benchmark data, see bench/README.md. */
const ABSENT =
  /\bRULINGS\b|\.\.\/shared\b(?!\/eval\b)|aggregation-research|(?:logic|system)-contract|of the seeds\b/g;
/** Contains the names that are forbidden elsewhere. */
const EXEMPT = /^scripts\/docs\//;
const UNTESTED = /^No test holds this\b/m;

/** Every cited rule has an entry in the contract, and no document outside the repository is cited. */
export function citationProblems(files) {
  const ids = new Set(entriesOf(files.get(CONTRACT) ?? '').map(({ id }) => id));
  return [...files].flatMap(([path, text]) => {
    if (text === undefined || EXEMPT.test(path)) return [];
    return text
      .split('\n')
      .flatMap((line, index) => [
        ...[...line.matchAll(CITATION)]
          .filter(([id]) => !ids.has(id))
          .map(([id]) => `${path}:${index + 1} cites ${id}, which ${CONTRACT} does not have`),
        ...[...line.matchAll(ABSENT)].map(
          ([name]) => `${path}:${index + 1} cites ${name}, which is not in the repository`,
        ),
      ]);
  });
}

/** Every entry names existing tests by file and title, or states that it has none. */
export function contractProblems(files) {
  const text = files.get(CONTRACT);
  if (text === undefined) return [`${CONTRACT} is missing`];
  const entries = entriesOf(text);
  const twice = entries.filter(({ id }, index) => entries.findIndex((e) => e.id === id) < index);
  return [
    ...twice.map(({ id, line }) => `${CONTRACT}:${line} has ${id} a second time`),
    ...entries.flatMap(({ id, line, body }) => {
      const tests = linksIn(body).filter(({ target }) => isTest(targetOf(target, CONTRACT)));
      if (tests.length === 0 && !UNTESTED.test(body)) {
        return [`${CONTRACT}:${line} ${id} names no test; write "No test holds this" if so`];
      }
      return tests.flatMap((test) => testProblem(test, line, files) ?? []);
    }),
  ];
}

function isTest(path) {
  return /(\bspec|\.soak)\.ts$|^test\/faults\//.test(path);
}

function testProblem({ text: title, target, line }, offset, files) {
  const path = targetOf(target, CONTRACT);
  const spec = files.get(path);
  if (spec !== undefined && hasTitle(spec, title)) return undefined;
  const where = `${CONTRACT}:${offset + line - 1}`;
  const elsewhere = [...files]
    .filter(([other, text]) => isTest(other) && text !== undefined && hasTitle(text, title))
    .map(([other]) => other);
  const hint = elsewhere.length > 0 ? `; it is in ${elsewhere.join(', ')}` : '';
  return `${where} ${path} has no test ${JSON.stringify(title)}${hint}`;
}

/** As a complete string literal in any quotes. */
function hasTitle(spec, title) {
  return ["'", '"', '`'].some((quote) => spec.includes(quote + title + quote));
}

/** Headings of the third level, each with the text up to the next heading. */
function entriesOf(text) {
  const lines = text.split('\n');
  const headings = headingsIn(text);
  return headings.flatMap(({ text: id, level, line }, index) =>
    level === 3
      ? [
          {
            id,
            line,
            body: lines
              .slice(line - 1, (headings[index + 1]?.line ?? lines.length + 1) - 1)
              .join('\n'),
          },
        ]
      : [],
  );
}
