import { readFiles } from './docs/files.mjs';

/*
 * `npm run words [folder]`: looks for banned words in code and documents and prints the plain alternative. Exits with 1
 * when it finds one.
 */

const ALTERNATIVES = new Map([
  ['whoever', 'name the actor: "the caller", "the owner"'],
  ['nobody', 'name the actor: "no caller", "no server"'],
  ['somebody', 'name the actor: "a user", "another client"'],
  ['anew', '"again"'],
  ['unasked', '"on its own", "without a request"'],
]);
const BANNED = new RegExp(`\\b(${[...ALTERNATIVES.keys()].join('|')})\\b`, 'gi');

const CHECKED =
  /^(libs|apps|scripts|test|bench|docs)\/.*\.(ts|mjs|md)$|^(README|CONTRIBUTING)\.md$/;
/** Generated code, and this list. */
const SKIPPED = /\/generated\/|^scripts\/check-words\.mjs$/;

let found = 0;
for (const [path, text] of readFiles(process.argv[2] ?? '.')) {
  if (text === undefined || !CHECKED.test(path) || SKIPPED.test(path)) continue;
  for (const [index, line] of text.split('\n').entries()) {
    for (const [word] of line.matchAll(BANNED)) {
      console.error(`${path}:${index + 1} "${word}": ${ALTERNATIVES.get(word.toLowerCase())}`);
      found++;
    }
  }
}
process.exitCode = found > 0 ? 1 : 0;
