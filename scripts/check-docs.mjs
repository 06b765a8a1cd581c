import { citationProblems, contractProblems } from './docs/contract.mjs';
import { decisionProblems } from './docs/decisions.mjs';
import { readFiles } from './docs/files.mjs';
import { linkProblems } from './docs/links.mjs';
import { logProblems } from './docs/logs.mjs';

/*
 * `npm run docs [folder]`: checks that references in code, tests and documents resolve: rules of docs/contract.md and
 * their tests, decisions and their index, relative links in Markdown,
 * logged events and their list. Exits with 1 on a problem.
 */

const files = readFiles(process.argv[2] ?? '.');
const problems = [
  ...contractProblems(files),
  ...citationProblems(files),
  ...decisionProblems(files),
  ...linkProblems(files),
  ...logProblems(files),
];
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
