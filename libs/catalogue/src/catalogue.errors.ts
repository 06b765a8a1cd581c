import { AppError } from '@app/platform';

/** `tool`: the name or id that was asked for. */
export class ToolNotFound extends AppError {
  constructor(tool: string) {
    super(`Tool not found: ${tool.slice(0, 100)}`, { kind: 'not-found', code: 'TOOL_NOT_FOUND' });
  }
}
