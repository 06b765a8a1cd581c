export { withReason } from './absent-tool.js';
export { CallSlots } from './call-slots.js';
export { CallTool } from './call-tool.command.js';
export { type ForwardContext, requestOnBehalf } from './forward.js';
export { resolveRoute, type Route, wireNameOf } from './route.js';
export { naming } from './routing.errors.js';
export { RoutingModule } from './routing.module.js';
export { SESSION_WITHIN_MS, SessionWait } from './session-wait.js';
