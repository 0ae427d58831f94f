export { createFakeClock } from '../os/clock.ts';
export { type FakeAgentOptions, type InstalledFakeAgent, installFakeAgent } from './install.ts';
export type {
  AnswerBlock,
  AnswerUsage,
  ModelAnswer,
  ModelError,
  ModelScript,
} from './model-server/script.ts';
export {
  type ModelRequest,
  type ModelServer,
  type ModelServerOptions,
  startModelServer,
} from './model-server/server.ts';
export type {
  ApiError,
  Child,
  FakeAgentName,
  Flood,
  Script,
  ScriptedResult,
  ScriptedTool,
  ScriptTurn,
  Step,
} from './script.ts';
export type { Call } from './traces.ts';
