import { AppError } from '@app/platform';

export class ToolNotFound extends AppError {
  constructor(id: string) {
    super(`Tool not found: ${id.slice(0, 100)}`, { kind: 'not-found', code: 'TOOL_NOT_FOUND' });
  }
}
