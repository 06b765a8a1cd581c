export { type SkillMember, SkillVectors } from './spaces/skill-vectors.js';
export { StaticModel } from './embed/static-model.js';
export { termsOf } from './text/terms.js';
export type { ToolPayload } from './spaces/tool-payload.js';
export {
  MAX_TEXT_CHARS,
  splitIdentifiers,
  toolText,
  type ToolWords,
} from './text/embedding-text.js';
export { ToolVectors } from './spaces/tool-vectors.js';
export { TopScores } from './indexes/top-scores.js';
export { VectorItem } from './spaces/vector-item.js';
export type { VectorFilter } from './indexes/vector-index.js';
export { VectorMemory } from './indexes/vector-memory.js';
export { blend, bytesOf, dot, vectorIn } from './indexes/vector-math.js';
export { VectorsModule } from './vectors.module.js';
