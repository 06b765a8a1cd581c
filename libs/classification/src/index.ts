export { ClassificationModule } from './classification.module.js';
export { type MappedSkill, SkillMap } from './map/skill-map.js';
