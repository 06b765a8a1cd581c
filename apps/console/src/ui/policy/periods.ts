import { texts } from '../../texts/index.js';

const { periods } = texts.policy;
const DAY_S = 86_400;

/** How long something is valid, to choose from. */
export const periodsToChoose = [
  { value: 'none', label: periods.none, seconds: undefined },
  { value: 'hour', label: periods.hour, seconds: 3_600 },
  { value: 'day', label: periods.day, seconds: DAY_S },
  { value: 'week', label: periods.week, seconds: 7 * DAY_S },
  { value: 'month', label: periods.month, seconds: 30 * DAY_S },
  { value: 'quarter', label: periods.quarter, seconds: 90 * DAY_S },
  { value: 'year', label: periods.year, seconds: 365 * DAY_S },
] as const;

export function secondsOf(period: string): number | undefined {
  return periodsToChoose.find(({ value }) => value === period)?.seconds;
}
