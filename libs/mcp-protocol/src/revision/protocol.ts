/**
 * Protocol names that the path of every message needs. The SDK exports them too (protocol.spec.ts compares), but
 * its packages take 14 MB and are loaded only when a server or a modern client needs them.
 */
export const PROTOCOL_VERSION_META_KEY = 'io.modelcontextprotocol/protocolVersion';
export const CLIENT_INFO_META_KEY = 'io.modelcontextprotocol/clientInfo';
export const CLIENT_CAPABILITIES_META_KEY = 'io.modelcontextprotocol/clientCapabilities';
export const LOG_LEVEL_META_KEY = 'io.modelcontextprotocol/logLevel';
export const SERVER_INFO_META_KEY = 'io.modelcontextprotocol/serverInfo';
export const SUBSCRIPTION_ID_META_KEY = 'io.modelcontextprotocol/subscriptionId';

/** Revisions with a handshake and a session, newest first. */
export const LEGACY_VERSIONS: readonly [string, ...string[]] = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
];

/** Revisions whose requests are stateless. */
export const MODERN_VERSIONS = ['2026-07-28'];

/** `legacy`: handshake, up to 2025-11-25. `modern`: stateless, from 2026-07-28 on. */
export type ProtocolEra = 'legacy' | 'modern';
