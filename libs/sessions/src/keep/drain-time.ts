/** How long pending calls may take to end before they are cancelled (contract BR-007). */
export const DRAIN_MS = 30_000;
