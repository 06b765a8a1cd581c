import { Command } from '@commander-js/extra-typings';
import type { RestClient } from './rest-client.js';
import type { CommandResult, Perform } from './session.js';
import { fields, table } from './table.js';

export function skillsGroup(perform: Perform) {
  const group = new Command('skills').description(
    'list and inspect skills, the categories of tools',
  );
  group
    .command('list', { isDefault: true })
    .description('list skills with the number of tools of each')
    .option('--all', 'include inactive skills')
    .action(({ all }) => perform((rest) => listSkills(rest, all ?? false)));
  group
    .command('show <skill>')
    .description('show a skill and its tools')
    .action((skill) => perform((rest) => showSkill(rest, skill)));
  return group;
}

async function listSkills(rest: RestClient, hasInactive: boolean): Promise<CommandResult> {
  const { first, items } = await rest.list(
    (api, page) => api.listSkills({ query: { ...page, include_inactive: hasInactive } }),
    ({ skills }) => skills,
  );
  const rows = items.map((skill) => [
    skill.id,
    String(skill.tool_count),
    skill.is_active ? '' : 'inactive',
    skill.description,
  ]);
  return {
    json: { ...first, skills: items },
    text: (screen) =>
      rows.length === 0 ? 'There are no skills.' : table(['SKILL', 'TOOLS', '', ''], rows, screen),
  };
}

async function showSkill(rest: RestClient, id: string): Promise<CommandResult> {
  const skill = await rest.ask((api) => api.getSkill({ path: { id } }));
  const { items } = await rest.list(
    (api, page) => api.listSkillTools({ path: { id }, query: page }),
    ({ tools }) => tools,
  );
  const about = fields([
    ['id', skill.id],
    ['name', skill.name],
    ['description', skill.description],
    ['active', String(skill.is_active)],
    ['prototypes', skill.prototypes.join('\n')],
    ['tools', String(skill.tool_count)],
  ]);
  const rows = items.map((tool) => [tool.name, tool.confidence.toFixed(2), tool.description]);
  return {
    json: { ...skill, tools: items },
    text: (screen) =>
      rows.length === 0 ? about : `${about}\n\n${table(['TOOL', 'SCORE', ''], rows, screen)}`,
  };
}
