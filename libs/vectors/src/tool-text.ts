/** `getHTTPUser` is get, HTTP, user. */
const CAMEL_CASE = /(\p{Ll})(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu;

/** `createIssue`, `create-issue`, `create_issue` as words of a sentence. */
export function splitIdentifiers(text: string): string {
  return text.replace(CAMEL_CASE, '$1$2 ').replace(/[_./:-]+/g, ' ');
}

export interface ToolWords {
  readonly server: string;
  readonly name: string;
  readonly description: string;
  readonly parameters: readonly string[];
  /** What the parameters are said to be. */
  readonly parameterDescriptions?: readonly string[];
}

/** Parameters are many and their words common: beyond half of the rest they would hide the tool. */
const PARAMETERS_SHARE = 0.5;

/** What an embedding model reads of a tool. */
export function toolText(tool: ToolWords): string {
  const { server, name, description, parameters, parameterDescriptions = [] } = tool;
  let text = `${server}: ${splitIdentifiers(name)}. ${description}`;
  if (parameters.length > 0) {
    text += `. Parameters: ${parameters.map(splitIdentifiers).join(', ')}`;
  }
  const said = parameterDescriptions
    .join('. ')
    .slice(0, Math.round(text.length * PARAMETERS_SHARE));
  return said ? `${text}. ${said}` : text;
}
