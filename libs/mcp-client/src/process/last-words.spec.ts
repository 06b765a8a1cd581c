import { lastWordsOf } from './last-words.js';

const lines = (text: string): string[] => text.split('\n');

const node = `node:internal/modules/cjs/loader:1228
  throw err;
  ^

Error: Cannot find module '/srv/missing.js'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1225:15)
    at Module._load (node:internal/modules/cjs/loader:1051:27) {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v20.20.2`;
const thrown = `(node:7) ExperimentalWarning: an error may follow
/srv/server.js:3
    throw new Error('API_KEY is required');
    ^

Error: API_KEY is required
    at Object.<anonymous> (/srv/server.js:3:9)

Node.js v20.20.2`;
const python = `Traceback (most recent call last):
  File "/srv/server.py", line 1, in <module>
    import nothing_like_it
ModuleNotFoundError: No module named 'nothing_like_it'`;
const npm = `npm warn deprecated thing@1.0.0: an error in it
npm error code E404
npm error 404 Not Found - GET https://registry.npmjs.org/no-such-server - Not found
npm error A complete log of this run can be found in: /root/.npm/_logs/x.log`;
const rust = `thread 'main' panicked at src/main.rs:2:5:
no configuration
note: run with RUST_BACKTRACE=1`;
const usage = `[stdout] Welcome
Usage: server --root <folder>
}`;

describe(lastWordsOf.name, () => {
  it.each([
    ['Node', node, "Error: Cannot find module '/srv/missing.js'"],
    ['a Node program', thrown, 'Error: API_KEY is required'],
    ['Python', python, "ModuleNotFoundError: No module named 'nothing_like_it'"],
    [
      'npm',
      npm,
      'npm error 404 Not Found - GET https://registry.npmjs.org/no-such-server - Not found',
    ],
    ['Rust', rust, "thread 'main' panicked at src/main.rs:2:5:"],
    [
      'a log with times',
      '10:00 INFO start\n10:01 ERROR no token\n10:01 INFO bye',
      '10:01 ERROR no token',
    ],
    ['a program that wants arguments', usage, 'Usage: server --root <folder>'],
    ['one that complains of nothing', 'starting\nstopping\n}\n', 'stopping'],
  ])('are, of %s, the line that says why', (_, text, said) => {
    expect(lastWordsOf(lines(text))).toBe(said);
  });

  it('returns undefined when there was no output', () => {
    expect(lastWordsOf([])).toBeUndefined();
    expect(lastWordsOf(['}', '  ^', ''])).toBeUndefined();
  });

  it('never quotes the programs that a server is started with', () => {
    const said = [
      'Original error: no file gcp-oauth.keys.json',
      'unshare: sigprocmask unblock failed',
    ];
    expect(lastWordsOf(said)).toBe('Original error: no file gcp-oauth.keys.json');
    expect(lastWordsOf(['setpriv: failed'])).toBeUndefined();
  });

  it.each([
    'Error: x',
    'TypeError: x',
    'Error [ERR_X]: x',
    'java.io.IOException: x',
    'a.$b.c_d.SomeException:  x',
    '2026-01-01 10:00:00 [main] ERROR ValueError: x',
    'Exception:x',
  ])('prefer a named error to an earlier complaint: %s', (line) => {
    expect(lastWordsOf(['it failed', line, 'it failed again'])).toBe(line);
  });

  it.each([
    'Error:',
    'an Errors: x',
    'Error (x): y',
    `${'long '.repeat(20)}Error: x`,
    'a-b Error [ERR: x',
    'x:Error: y',
  ])('do not take any mention of an error for a named one: %s', (line) => {
    expect(lastWordsOf(['it failed', line])).toBe('it failed');
  });

  it.each([
    'an error here',
    'FATAL here',
    'panic here',
    'it panicked',
    'an exception here',
    'it failed',
    'a failure',
    'it cannot',
    "it can't",
    'could not do',
    'unable here',
    'not found here',
    'no such thing',
    'missing thing',
    'required here',
    'denied here',
    'refused here',
    'invalid thing',
    'unknown thing',
    'unsupported thing',
    'you must do',
    'Usage here',
  ])('prefer a complaint to what was said last: %s', (line) => {
    expect(lastWordsOf(['hello', line, 'bye'])).toBe(line);
  });

  it.each(['no terrors', 'cannotation', 'nothing founded'])(
    'do not take a part of a word for a complaint: %s',
    (line) => {
      expect(lastWordsOf([line, 'bye'])).toBe('bye');
    },
  );

  it.each([
    '    at run (file.js:1:1)',
    'at run (file.js:1:1)',
    '    throw new Error: x',
    'throw error',
    '  File "/srv/error.py", line 1',
    'File "/srv/error.py", line 1',
    'Traceback (most recent error: x):',
    "  code: 'ERROR',",
    "    'path': 'error',",
    'errno: -2, error,',
    'node:internal/error',
    'Node.js v20.20.2 error',
    'npm error code E404',
    'npm ERR! errno 1',
    'npm error syscall open',
    'npm error path /a',
    'npm error dest /b',
    'npm error A complete log of this run: x',
    'npm error   /root/.npm/error.log',
    'npm error /root/.npm/error.log',
    'npm WARN error',
    'npm notice error',
    'warn: an error',
    'a Warning: error',
    '[stdout]     at run (error.js)',
    '^ ! 1 2 3',
    'x',
  ])('are never what only surrounds an error: %s', (line) => {
    expect(lastWordsOf(['hello', line])).toBe('hello');
    expect(lastWordsOf([line, 'hello'])).toBe('hello');
  });

  it.each([
    'error at start',
    'error in throw statement',
    'error in File "a"',
    'error before Traceback (x)',
    "error with code: 'x'",
    'error: "code": 1, and more',
    'error in a two words: x,',
    'error of node:internal/x',
    'error with Node.js v20',
    'Node.js vX error',
    'error of npm error code',
    'error of npm notice',
    'error of unshare: x',
    'error: warned',
  ])('may contain what also surrounds errors: %s', (line) => {
    expect(lastWordsOf([line, 'bye'])).toBe(line);
  });

  it('are taken from standard output as well, and quoted without white space around', () => {
    expect(lastWordsOf(['[stdout]   it failed  ', 'bye'])).toBe('[stdout]   it failed');
    expect(lastWordsOf(['   bye   '])).toBe('bye');
    expect(lastWordsOf(['one', 'two', 'three'])).toBe('three');
    expect(lastWordsOf(['a line before [stdout] '])).toBe('a line before [stdout]');
  });
});
