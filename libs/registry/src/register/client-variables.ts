import { homedir } from 'node:os';
import { basename, dirname, resolve, sep } from 'node:path';

/** Variables that a client expands in its own configuration file, and that the service does not know. */
export interface ClientVariables {
  /**
   * Expands the client's variables and rewrites `${env:NAME}` as our `${NAME}`. Other variables stay for
   * registration to validate.
   */
  readonly expand: (text: string) => string;
  /** Absolute path of a folder; clients resolve relative ones against the project folder. */
  readonly folder: (path: string) => string;
}

/** The variables of VS Code and Cursor. */
export function clientVariables(file: string, home = homedir()): ClientVariables {
  const workspace = workspaceOf(file);
  const values: Readonly<Record<string, string>> = {
    userHome: home,
    workspaceFolder: workspace,
    workspaceRoot: workspace,
    workspaceFolderBasename: basename(workspace),
    pathSeparator: sep,
    '/': sep,
  };
  return {
    expand: (text) =>
      text
        .replaceAll('${env:', '${')
        .replaceAll(/\$\{([A-Za-z]+|\/)\}/g, (placeholder, name: string) =>
          Object.hasOwn(values, name) ? (values[name] ?? placeholder) : placeholder,
        ),
    folder: (path) => (path.startsWith('${') ? path : resolve(workspace, path)),
  };
}

/** Clients store project settings in the project folder or in a subfolder of it, such as `.vscode`. */
function workspaceOf(file: string): string {
  const folder = dirname(resolve(file));
  return ['.vscode', '.cursor'].includes(basename(folder)) ? dirname(folder) : folder;
}
