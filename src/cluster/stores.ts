// One file, so that the build has the clients of both databases in one bundle that is loaded only when it is needed.
export { openPostgresStore } from './postgres-store.ts';
export { openRedisStore } from './redis-store.ts';
