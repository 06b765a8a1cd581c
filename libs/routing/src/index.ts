export {
  CallTool,
  RECONNECT_WITHIN_MS,
  type ToolAnswer,
  type ToolCaller,
} from './call-tool.command.js';
export { type Conversation, forward } from './forward.js';
export { resolveRoute, type Route, wireNameOf } from './route.js';
export { ToolNotFound } from './routing.errors.js';
export { RoutingModule } from './routing.module.js';
