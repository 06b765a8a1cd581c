import { homedir } from 'node:os';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Whether this program was installed as an npm package; otherwise it runs in a checkout or in the image. */
export const isPackage = fileURLToPath(import.meta.url).includes(`${sep}node_modules${sep}`);

/** The command that starts the service. */
export const startCommandLine = isPackage ? 'switchboard start' : 'npm start';

/** Before the options of that command. */
export const startWithOptions = isPackage ? 'switchboard start' : 'npm start --';

/**
 * Without MCP_AGGREGATOR_DATA_DIR. MCP clients and terminals run a package in any folder, and have to find the same
 * service.
 */
export const defaultDataDir = isPackage ? join(homedir(), '.switchboard') : './data';
