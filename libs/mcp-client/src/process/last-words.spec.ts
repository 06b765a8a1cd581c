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
});
