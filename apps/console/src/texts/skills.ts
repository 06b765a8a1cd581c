export const skills = {
  title: 'Skills',
} as const;
