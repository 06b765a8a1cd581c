export { ApprovalsModule } from './approvals.module.js';
export { DefinitionScreening } from './decide/definition-screening.js';
export { pinHashOf } from './decide/pin.js';
export { type ScreenedTools, ToolScreening } from './decide/tool-screening.js';
export { hasHiddenCharacters } from './findings/disguise.js';
