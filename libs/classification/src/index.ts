export { ClassificationModule } from './classification.module.js';
export { type MappedSkill, SkillMap } from './skill-map.js';
