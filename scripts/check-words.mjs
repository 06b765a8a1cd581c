import { readFiles } from './docs/files.mjs';

/*
 * `npm run words [folder]`: looks for banned words in code and documents and prints the plain alternative. Exits with 1
 * when it finds one.
 */

const ALTERNATIVES = new Map([
  ['whoever', 'name the actor: "the caller", "the owner"'],
  ['nobody', 'name the actor: "no caller", "no server"'],
  ['somebody', 'name the actor: "a user", "another client"'],
  ['anybody', 'name the actor: "any caller"'],
  ['everybody', 'name the actors: "all clients", "every user"'],
  ['anew', '"again"'],
  ['unasked', '"on its own", "without a request"'],
  ['go on', '"continue", "keep serving"'],
  ['goes on', '"continues", "keeps serving"'],
  ['going on', '"continuing", "in progress"'],
  ['went on', '"continued", "kept sending"'],
  ['all the same', '"anyway", "still"'],
  ['of ours', '"our own", "of the service"'],
  ['put off', '"deferred"'],
  ['puts off', '"defers"'],
  ['unless told', '"by default", "unless stated"'],
  ['in vain', 'state the outcome: "without an answer"'],
]);
const BANNED = new RegExp(`\\b(${[...ALTERNATIVES.keys()].join('|')})\\b`, 'gi');

const CHECKED =
  /^(libs|apps|scripts|test|bench|docs|conformance|examples|migrations)\/.*\.(ts|mjs|md)$|^(README|CONTRIBUTING|CHANGELOG|SECURITY|AGENTS)\.md$/;
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
