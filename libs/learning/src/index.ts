export { Learning, type SuccessfulCall } from './credit/learning.js';
export { LearningModule } from './learning.module.js';
export type { Lift } from './recall/learnt-view.js';
export { LearntTools } from './recall/learnt-tools.js';
