/** In the address of a tool: the search that found it, which learns from the call that follows. */
export const FOUND_BY = 'found_by';
