/** Limits for REST and for the configuration file. */
export const MAX_RULES = 200;
export const MAX_PATTERN_CHARS = 500;
export const MIN_WEIGHT = 0.01;
export const MAX_WEIGHT = 100;
