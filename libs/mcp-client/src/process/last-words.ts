/** `Error: Cannot find module 'x'`, `ModuleNotFoundError: …`, `java.io.IOException: …`, also after a timestamp or level. */
const NAMED_ERROR = /^(?:.{0,60}\s)?(?:[\w$]+\.)*[\w$]*(?:Error|Exception)(?: \[[^\]]*\])?: *\S/;
const COMPLAINT =
  /\b(?:error|fatal|panic(?:ked)?|exception|failed|failure|cannot|can't|could not|unable|not found|no such|missing|required|denied|refused|invalid|unknown|unsupported|must|usage)\b/i;
/**
 * Stack frames, the quoted source above them, warnings, the lines npm and Node print around an error, and the
 * programs that process-tree.ts starts a server with.
 */
const BESIDES = [
  /^(?:unshare|setpriv): /,
  /^\s*at /,
  /^\s*throw /,
  /^\s*File "/,
  /^Traceback /,
  /^\s*[\w'"]+: .*,?$(?<=,)/,
  /^node:internal\//,
  /^Node\.js v\d/,
  /^npm (?:error|ERR!) (?:code|errno|syscall|path|dest|A complete log of this run|\s*\/)/,
  /^npm (?:warn|notice)/i,
  /\bwarn(?:ing)?\b/i,
];
const WORD = /\p{L}{2,}/u;
const STDOUT = '[stdout] ';

/**
 * The line that best explains why a process exited: the first with the name of an error, or else the first
 * that complains, or else the last that contains a word.
 */
export function lastWordsOf(lines: readonly string[]): string | undefined {
  const spoken = lines.filter((line) => {
    const text = line.startsWith(STDOUT) ? line.slice(STDOUT.length) : line;
    return WORD.test(text) && !BESIDES.some((pattern) => pattern.test(text));
  });
  return (
    spoken.find((line) => NAMED_ERROR.test(line)) ??
    spoken.find((line) => COMPLAINT.test(line)) ??
    spoken.at(-1)
  )?.trim();
}
