/** What standard output is. */
export interface Screen {
  readonly isTerminal: boolean;
  /** Width in columns; undefined for files and pipes, which take lines of any length. */
  readonly columns: number | undefined;
  readonly hasColour: boolean;
}

export function screenOf(
  stream: { readonly isTTY?: boolean; readonly columns?: number },
  env: Readonly<Record<string, string | undefined>>,
): Screen {
  const isTerminal = stream.isTTY === true;
  return {
    isTerminal,
    columns: isTerminal && stream.columns ? stream.columns : undefined,
    hasColour: isTerminal && !env['NO_COLOR'] && env['TERM'] !== 'dumb',
  };
}

/** Controls but tab and line feed, and the marks that reverse the direction of the text after them. */
const CONTROLS = /(?![\t\n])[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu;

/**
 * Makes control characters visible: text of servers could otherwise move the cursor, rewrite what was printed or
 * change settings of the terminal.
 */
export function visible(text: string): string {
  return text.replace(CONTROLS, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Text of a server, as it came unless a person reads it. */
export function shown(text: string, screen: Screen): string {
  return screen.isTerminal ? visible(text) : text;
}

const COLOURS = { red: 31, green: 32, yellow: 33, grey: 90 } as const;
const COLOUR_OF: Readonly<Record<string, keyof typeof COLOURS>> = {
  CONNECTED: 'green',
  healthy: 'green',
  success: 'green',
  CONNECTING: 'yellow',
  DEGRADED: 'yellow',
  degraded: 'yellow',
  refused: 'yellow',
  ERROR: 'red',
  unhealthy: 'red',
  failure: 'red',
  DISCONNECTED: 'grey',
};

/** Colours a word that says how something is. */
export function coloured(word: string, text: string, screen: Screen): string {
  const colour = screen.hasColour ? COLOUR_OF[word] : undefined;
  return colour === undefined ? text : `\u001B[${COLOURS[colour]}m${text}\u001B[39m`;
}
