import { AppError, DataDirError, InvalidEnv } from '@app/platform';
import { UnusableArguments } from './settings.js';

/** Why the service does not start, as one sentence if the operator can fix it; undefined for a defect. */
export function startupProblem(error: unknown): string | undefined {
  const isExpected = [InvalidEnv, DataDirError, AppError, UnusableArguments].some(
    (kind) => error instanceof kind,
  );
  if (isExpected && error instanceof Error) return error.message;
  return isSystemError(error) ? systemProblem(error) : undefined;
}

interface SystemError {
  readonly code: string;
  readonly syscall: string;
  readonly path?: string;
  readonly address?: string;
  readonly port?: number;
}

/** Not by `instanceof`: under Jest, Node's errors come from another realm. */
function isSystemError(error: unknown): error is SystemError {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    typeof error.code === 'string' &&
    'syscall' in error &&
    typeof error.syscall === 'string'
  );
}

function systemProblem({ code, syscall, path, address, port }: SystemError): string | undefined {
  if (syscall === 'listen' || syscall === 'bind') {
    const at = `Cannot listen on port ${port} of ${address}`;
    switch (code) {
      case 'EADDRINUSE':
        return `${at}: another program uses it. Stop that program, or choose another port with MCP_AGGREGATOR_PORT (0 takes any free one).`;
      case 'EACCES':
        return `${at}: this user may not. Choose a port above 1023 with MCP_AGGREGATOR_PORT.`;
      case 'EADDRNOTAVAIL':
        return `${at}: this machine has no such address. Correct MCP_AGGREGATOR_HOST.`;
      default:
        return `${at}: ${code}. Correct MCP_AGGREGATOR_HOST and MCP_AGGREGATOR_PORT.`;
    }
  }
  if (path === undefined) return undefined;
  return `Cannot ${syscall} ${path}: ${code}. The service needs this file or folder: mend its permissions, or name another data folder with MCP_AGGREGATOR_DATA_DIR.`;
}
