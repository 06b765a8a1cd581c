export { ApprovalsModule } from './approvals.module.js';
export { pinHashOf } from './decide/pin.js';
export { type ScreenedTools, ToolScreening } from './decide/tool-screening.js';
