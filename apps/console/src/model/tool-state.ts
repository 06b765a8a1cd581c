import type { ToolView } from '@app/api-client';
import type { State } from '../ui/state-mark.js';

/** A tool that is offered is as usable as its server. */
export function stateOfTool({ source_server: server }: Pick<ToolView, 'source_server'>): State {
  switch (server?.status) {
    case 'CONNECTED':
    case undefined:
      return 'ready';
    case 'CONNECTING':
      return 'connecting';
    case 'DEGRADED':
      return 'slow';
    case 'ERROR':
      return 'failing';
    default:
      return 'off';
  }
}
