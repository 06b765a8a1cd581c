/** Topics of messages between replicas; ids are server ids. */

/** A row says something else about its session: connect, reconnect with another configuration, or removed. */
export const SESSIONS_CHANGED = 'sessions';
/** People have given, replaced or withdrawn credentials of their own. */
export const PEOPLE_CHANGED = 'people';
/** Disconnected by request with `force`: calls that run at other replicas are cancelled as well. */
export const DISCONNECT_FORCED = 'disconnect-forced';
