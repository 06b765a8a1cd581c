export { ActivityModule } from './activity.module.js';
export { type StateTopic, stateTopics } from './feed/activity-event.js';
export { ActivityFeed, type StateEvent } from './feed/activity-feed.js';
export { CallActivity, type CallOrigin } from './calls/call-activity.js';
export { PeerQuestions } from './cluster/peer-questions.js';
export { EventStreams } from './stream/event-streams.js';
