export const { jest } = globalThis[Symbol.for('@jest/globals')];
